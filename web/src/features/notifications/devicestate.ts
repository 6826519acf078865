/** Whether this browser may show notifications. */
import { signal } from "@preact/signals";
import { serviceUrl } from "../../api/paths.ts";

export const KEY = "tservice.notify";

/**
 * `unsupported`: the browser has none, or the page came over plain http; `denied`: the person
 * refused; `page`: while a page is open; `push`: also when none is.
 */
export type Device = "unsupported" | "denied" | "off" | "page" | "push";

export const device = signal<Device>("off");

export const supported = (): boolean =>
  "Notification" in window && "serviceWorker" in navigator && window.isSecureContext;

export const scope = (): string => serviceUrl("./", document.baseURI);

/** Whether notifications show what is asked, and take the answer. */
export const answers = signal(false);

export const ANSWERS_KEY = "tservice.notify.answers";

/** @returns false where this browser is not to show any. */
export const isOn = (): boolean => device.value === "page" || device.value === "push";
