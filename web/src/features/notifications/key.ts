/** The service's public key for push, as the browser wants it. */

/** @param text base64url without padding: an uncompressed P-256 point, 65 bytes. */
export function keyBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  if (bytes.length !== 65 || bytes[0] !== 4) throw new Error("The server's push key is invalid.");
  return bytes;
}
