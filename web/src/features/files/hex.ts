/** Bytes as a hex dump: the place, sixteen bytes, and what of them is ASCII. */

export const HEAD_BYTES = 1024;
const WIDTH = 16;

export function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += WIDTH) {
    const row = [...bytes.subarray(at, at + WIDTH)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0"));
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "."));
    const halves = `${hex.slice(0, 8).join(" ")}  ${hex.slice(8).join(" ")}`;
    lines.push(`${at.toString(16).padStart(6, "0")}  ${halves.padEnd(WIDTH * 3)}  ${text.join("")}`);
  }
  return lines.join("\n");
}
