/**
 * Events and frames in one order of time, as rows of two cells. An event and a frame that follow each other directly,
 * and soon, share a row; everything else has a row of its own, so that reading down either column is reading forward in time.
 */
import type { DurableEvent } from '@parlance/protocol';
import type { TappedFrame } from '@parlance/sdk';

/** A frame and its place in what has passed since the page was opened. */
export type NumberedFrame = Omit<TappedFrame, 'connection'> & {
  readonly number: number;
  /** '' where the page itself is the client */
  readonly connection: string;
};

/** Something that was on no wire, said between frames. */
export type Note = { readonly at: number; readonly text: string };

export type Row = {
  readonly key: string;
  readonly event?: DurableEvent;
  readonly frame?: NumberedFrame;
  readonly note?: Note;
};

const eventKey = (event: DurableEvent): string => `event-${event.seq}`;
const frameKey = (frame: NumberedFrame): string => `frame-${frame.number}`;

/** What came in is the cause, what goes out the effect: inside one millisecond that is the order. */
const comesFirst = (frame: NumberedFrame, event: DurableEvent): boolean =>
  frame.at < event.at || (frame.at === event.at && frame.direction === 'in');

/** What is further apart has nothing to do with each other. */
const TOGETHER_MS = 100;

export function alignedRows(events: readonly DurableEvent[], frames: readonly NumberedFrame[]): Row[] {
  const rows: Row[] = [];
  let [nextEvent, nextFrame] = [0, 0];
  for (;;) {
    const [event, frame] = [events[nextEvent], frames[nextFrame]];
    if (frame && (!event || comesFirst(frame, event))) {
      nextFrame++;
      const last = rows.at(-1);
      if (last?.event && !last.frame && frame.at - last.event.at <= TOGETHER_MS)
        rows[rows.length - 1] = { ...last, frame };
      else rows.push({ key: frameKey(frame), frame });
    } else if (event) {
      nextEvent++;
      const last = rows.at(-1);
      if (last?.frame && !last.event && event.at - last.frame.at <= TOGETHER_MS)
        rows[rows.length - 1] = { ...last, event };
      else rows.push({ key: eventKey(event), event });
    } else return rows;
  }
}

export const eventRows = (events: readonly DurableEvent[]): Row[] =>
  events.map((event) => ({ key: eventKey(event), event }));

export const frameRows = (frames: readonly NumberedFrame[]): Row[] =>
  frames.map((frame) => ({ key: frameKey(frame), frame }));

/** Lines of JSON in the order of the rows: `{"event": …}` and `{"frame": …}`, each exactly as it was told. */
export function exportLines(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ event, frame }) => {
    const both: { at: number; line: string }[] = [];
    if (event) both.push({ at: event.at, line: JSON.stringify({ event }) });
    if (frame) {
      const { number: _number, type: _type, ...passed } = frame;
      const line = { at: frame.at, line: JSON.stringify({ frame: passed }) };
      if (event && !comesFirst(frame, event)) both.push(line);
      else both.unshift(line);
    }
    return both.map(({ line }) => `${line}\n`);
  });
  return lines.join('');
}
