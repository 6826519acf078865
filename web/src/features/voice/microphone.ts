/** The microphone, from its opening until it is let go. */
import workletUrl from "./capture.worklet.ts?worker&url";

export interface Microphone {
  /** Hand on what was heard until now, then let go; resolves once all of it was handed on. */
  finish: () => Promise<void>;
  /** Let go at once. */
  release: () => void;
}

/** As it sounds: what is made pleasant for people is harder to understand for a program. */
const WANTED: MediaTrackConstraints = {
  channelCount: 1,
  echoCancellation: false,
  noiseSuppression: false,
  autoGainControl: false,
};

/** A page has a microphone over https, or on this machine. */
export const hasMicrophone = (): boolean =>
  window.isSecureContext && navigator.mediaDevices?.getUserMedia !== undefined;

const END_MS = 1_000;

/** @param heard is handed 16 kHz PCM. */
export async function openMicrophone(heard: (pcm: Int16Array<ArrayBuffer>) => void): Promise<Microphone> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED });
  const context = new AudioContext();
  const release = () => {
    for (const track of stream.getTracks()) track.stop();
    if (context.state !== "closed") void context.close();
  };
  try {
    await context.audioWorklet.addModule(workletUrl);
    const node = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0 });
    let ended = () => {};
    const end = new Promise<void>((done) => (ended = done));
    node.port.onmessage = ({ data }: MessageEvent<Int16Array<ArrayBuffer> | "end">) => {
      if (data === "end") ended();
      else heard(data);
    };
    context.createMediaStreamSource(stream).connect(node);
    await context.resume();
    const finish = async () => {
      for (const track of stream.getTracks()) track.stop();
      node.port.postMessage("end");
      await Promise.race([end, new Promise<void>((done) => setTimeout(done, END_MS))]);
      release();
    };
    return { finish, release };
  } catch (error) {
    release();
    throw error;
  }
}
