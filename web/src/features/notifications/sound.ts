/** Two soft tones. Browsers let a page sound only after the person touched it once. */

const TONES = [
  [660, 0],
  [880, 0.14],
] as const;
const LENGTH_S = 0.22;
const LOUDNESS = 0.08;

let context: AudioContext | undefined;

export function chime(): void {
  if (!("AudioContext" in window)) return;
  context ??= new AudioContext();
  if (context.state === "suspended") {
    void context.resume();
    return;
  }
  for (const [frequency, after] of TONES) {
    const [tone, gain] = [context.createOscillator(), context.createGain()];
    const begin = context.currentTime + after;
    tone.frequency.value = frequency;
    gain.gain.setValueAtTime(LOUDNESS, begin);
    gain.gain.exponentialRampToValueAtTime(0.0001, begin + LENGTH_S);
    tone.connect(gain).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + LENGTH_S);
  }
}
