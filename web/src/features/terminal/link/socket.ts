/** The browser's WebSocket behind the link's small interface. */
import { keyProtocols } from "../../../api/key.ts";
import { socketUrl } from "../../../api/paths.ts";
import type { Socket, SocketHandlers } from "./link.ts";

/** A connection that does not open within this many milliseconds counts as lost. */
const OPEN_MS = 10_000;

export function openSocket(path: string, handlers: SocketHandlers): Socket {
  const socket = new WebSocket(socketUrl(path, document.baseURI), keyProtocols());
  socket.binaryType = "arraybuffer";
  const tooLate = setTimeout(() => socket.close(), OPEN_MS);
  socket.onopen = () => clearTimeout(tooLate);
  socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
    if (typeof event.data === "string") handlers.onText(event.data);
    else handlers.onBytes(new Uint8Array(event.data));
  };
  socket.onclose = (event) => {
    clearTimeout(tooLate);
    handlers.onClose(event.code);
  };
  return {
    // A socket that closes says so by its close event; what is sent meanwhile would only be lost.
    send: (text) => {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(text);
      return true;
    },
    close: () => {
      clearTimeout(tooLate);
      socket.close();
    },
  };
}
