/** Finds a hand in the camera's pictures, in this browser: no picture leaves it. */
import type { Hand } from "./shapes.ts";

export interface Finder {
  stop: () => void;
}

/** What the packaged model's script leaves behind. */
interface Model {
  setOptions: (options: Record<string, unknown>) => void;
  onResults: (heard: (results: { multiHandLandmarks?: Hand[] }) => void) => void;
  initialize: () => Promise<void>;
  send: (input: { image: HTMLVideoElement }) => Promise<void>;
  close: () => Promise<void>;
}

type MakeModel = new (options: { locateFile: (name: string) => string }) => Model;

const folder = new URL("./hands/", import.meta.url);
/** Between two pictures (ms): more would only warm the machine. */
const PACE_MS = 80;

function loadScript(): Promise<void> {
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = new URL("hands.js", folder).href;
    script.onload = () => done();
    script.onerror = () => fail(new Error("couldn't load the hand detection model"));
    document.head.append(script);
  });
}

async function openModel(found: (hand: Hand | undefined) => void): Promise<Model> {
  const there = () => (window as { Hands?: MakeModel }).Hands;
  if (!there()) await loadScript();
  const Made = there();
  if (!Made) throw new Error("the hand detection model has an unexpected checksum");
  const model = new Made({ locateFile: (name) => new URL(name, folder).href });
  model.setOptions({
    maxNumHands: 1,
    modelComplexity: 0,
    minDetectionConfidence: 0.7,
    minTrackingConfidence: 0.6,
  });
  model.onResults(({ multiHandLandmarks }) => found(multiHandLandmarks?.[0]));
  await model.initialize();
  return model;
}

/** @param found is told of each picture. */
export async function findHands(
  video: HTMLVideoElement,
  found: (hand: Hand | undefined) => void,
  failed: (error: unknown) => void,
): Promise<Finder> {
  const wanted = { video: { width: 640, height: 480, facingMode: "user" } };
  const stream = await navigator.mediaDevices.getUserMedia(wanted);
  const release = () => stream.getTracks().forEach((track) => track.stop());
  let model: Model | undefined;
  let over = false;
  const stop = () => {
    over = true;
    release();
    void model?.close();
  };
  try {
    video.srcObject = stream;
    await video.play();
    model = await openModel(found);
  } catch (error) {
    stop();
    throw error;
  }
  const look = async (opened: Model) => {
    while (!over) {
      await new Promise((done) => setTimeout(done, PACE_MS));
      if (!over) await opened.send({ image: video });
    }
  };
  look(model).catch((error: unknown) => {
    if (over) return;
    stop();
    failed(error);
  });
  return { stop };
}
