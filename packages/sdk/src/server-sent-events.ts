/** Server-sent events, as the HTML standard has them, from bytes cut anywhere. */
export type Frame = { readonly event: string; readonly data: string };

export type FrameReader = {
  /** The frames that are complete with these bytes. */
  read(bytes: Uint8Array): Frame[];
};

const LINE_END = /\r\n|\n|\r/g;

export function frameReader(): FrameReader {
  // It also takes the byte order mark away.
  const decoder = new TextDecoder();
  /** of the line that is under way; joined when it ends, so that a long one is not copied with every read */
  let pieces: string[] = [];
  let afterReturn = false;
  let event = '';
  let data: string[] = [];

  function line(text: string, frames: Frame[]): void {
    if (text === '') {
      if (data.length > 0) frames.push({ event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }

  return {
    read(bytes) {
      const frames: Frame[] = [];
      let text = decoder.decode(bytes, { stream: true });
      if (text === '') return frames;
      // The other half of a \r\n.
      if (afterReturn && text.startsWith('\n')) text = text.slice(1);
      let from = 0;
      for (const end of text.matchAll(LINE_END)) {
        pieces.push(text.slice(from, end.index));
        line(pieces.join(''), frames);
        pieces = [];
        from = end.index + end[0].length;
      }
      if (from < text.length) pieces.push(text.slice(from));
      afterReturn = text.endsWith('\r');
      return frames;
    },
  };
}
