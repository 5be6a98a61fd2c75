/** Filters events and frames. An empty field matches everything. */
import type { DurableEvent } from '@parlance/protocol';
import type { TappedFrame } from '@parlance/sdk';
import type { NumberedFrame } from '../../entries/rows.ts';
import { memoize, summaryOfFrame } from '../../entries/summary.ts';

export type Filter = {
  /** case-insensitive search in the exact JSON of events and text of frames */
  readonly text: string;
  readonly eventType: string;
  readonly dialect: string;
  readonly connection: string;
  readonly direction: '' | TappedFrame['direction'];
  readonly frameType: string;
};

export const EVERYTHING: Filter = {
  text: '',
  eventType: '',
  dialect: '',
  connection: '',
  direction: '',
  frameType: '',
};

const searchable = memoize((event: DurableEvent) => JSON.stringify(event).toLowerCase());
const searchableFrame = memoize((frame: NumberedFrame) => frame.text.toLowerCase());
const chosen = (choice: string, value: string): boolean => choice === '' || choice === value;

export function shownEvents(
  events: readonly DurableEvent[],
  { text, eventType }: Filter,
): readonly DurableEvent[] {
  const query = text.trim().toLowerCase();
  if (query === '' && eventType === '') return events;
  return events.filter(
    (event) => chosen(eventType, event.type) && (query === '' || searchable(event).includes(query)),
  );
}

export function shownFrames(frames: readonly NumberedFrame[], filter: Filter): readonly NumberedFrame[] {
  const query = filter.text.trim().toLowerCase();
  const { dialect, connection, direction, frameType } = filter;
  if (`${query}${dialect}${connection}${direction}${frameType}` === '') return frames;
  return frames.filter(
    (frame) =>
      chosen(dialect, frame.dialect) &&
      chosen(connection, frame.connection) &&
      chosen(direction, frame.direction) &&
      chosen(frameType, summaryOfFrame(frame).type) &&
      (query === '' || searchableFrame(frame).includes(query)),
  );
}

export type Choices = {
  readonly eventTypes: readonly string[];
  readonly dialects: readonly string[];
  readonly connections: readonly string[];
  readonly frameTypes: readonly string[];
};

/** Options: the values seen and the selected one. */
export function choicesOf(
  events: readonly DurableEvent[],
  frames: readonly NumberedFrame[],
  filter: Filter,
): Choices {
  const seen = (values: Iterable<string>, choice: string): string[] =>
    [...new Set(choice === '' ? values : [...values, choice])].sort();
  return {
    eventTypes: seen(
      events.map(({ type }) => type),
      filter.eventType,
    ),
    dialects: seen(
      frames.map(({ dialect }) => dialect),
      filter.dialect,
    ),
    connections: seen(
      frames.flatMap(({ connection, dialect }) => (chosen(filter.dialect, dialect) ? [connection] : [])),
      filter.connection,
    ),
    frameTypes: seen(
      frames.flatMap((frame) => (chosen(filter.dialect, frame.dialect) ? [summaryOfFrame(frame).type] : [])),
      filter.frameType,
    ),
  };
}
