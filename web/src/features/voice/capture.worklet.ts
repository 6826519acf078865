/** Runs in the sound's own thread: what the microphone hears, as 16 kHz PCM, a tenth of a second a message. */
import { Resampler, toPcm16 } from "./resample.ts";

declare const sampleRate: number;
declare const registerProcessor: (name: string, made: unknown) => void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

const MESSAGE_SAMPLES = 1_600;

class Capture extends AudioWorkletProcessor {
  #resampler = new Resampler(sampleRate);
  #pcm = new Int16Array(MESSAGE_SAMPLES);
  #filled = 0;
  #over = false;

  constructor() {
    super();
    this.port.onmessage = () => this.#end();
  }

  process(inputs: Float32Array[][]): boolean {
    const sound = inputs[0]?.[0];
    if (sound && !this.#over) this.#add(this.#resampler.push(sound));
    return !this.#over;
  }

  #add(sound: Float32Array): void {
    for (const sample of toPcm16(sound)) {
      this.#pcm[this.#filled++] = sample;
      if (this.#filled === MESSAGE_SAMPLES) this.#send();
    }
  }

  #send(): void {
    this.port.postMessage(this.#pcm.slice(0, this.#filled));
    this.#filled = 0;
  }

  /** What is left, and that it was the last. */
  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#add(this.#resampler.end());
    this.#send();
    this.port.postMessage("end");
  }
}

registerProcessor("capture", Capture);
