/** The text of an event stream, piece by piece, into messages (HTML standard, 9.2.6). */

export interface Message {
  event: string;
  data: string;
  id: string | undefined;
}

/** Characters that one unfinished message may hold; a longer one is a broken stream. */
export const MESSAGE_LIMIT = 8 * 1024 * 1024;

export class StreamTooLong extends Error {}

function readMessage(block: string): Message | undefined {
  let event = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    if (colon === 0 || line === "") continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  return data.length === 0 ? undefined : { event, data: data.join("\n"), id };
}

export class StreamParser {
  private rest = "";

  /** @throws StreamTooLong when a message does not end within the limit. */
  push(text: string): Message[] {
    this.rest += text;
    const found: Message[] = [];
    let end = /\r\n\r\n|\n\n|\r\r/.exec(this.rest);
    while (end) {
      const message = readMessage(this.rest.slice(0, end.index));
      if (message) found.push(message);
      this.rest = this.rest.slice(end.index + end[0].length);
      end = /\r\n\r\n|\n\n|\r\r/.exec(this.rest);
    }
    if (this.rest.length > MESSAGE_LIMIT) throw new StreamTooLong("an event is too long");
    return found;
  }
}
