/** Which facts and frames are shown. An empty choice lets everything through. */
import type { Fact } from '@parlance/protocol';
import type { PassedFrame } from '@parlance/sdk';
import { summaryOfFrame } from '../../entries/frame-summary.ts';
import { once } from '../../entries/once.ts';
import type { NumberedFrame } from '../../entries/rows.ts';

export type Filter = {
  /** looked for in the exact JSON of facts and the exact text of frames, in upper or lower case */
  readonly text: string;
  readonly factType: string;
  readonly dialect: string;
  readonly connection: string;
  readonly direction: '' | PassedFrame['direction'];
  readonly frameType: string;
};

export const EVERYTHING: Filter = {
  text: '',
  factType: '',
  dialect: '',
  connection: '',
  direction: '',
  frameType: '',
};

const searchable = once((fact: Fact) => JSON.stringify(fact).toLowerCase());
const searchableFrame = once((frame: NumberedFrame) => frame.text.toLowerCase());
const chosen = (choice: string, value: string): boolean => choice === '' || choice === value;

export function shownFacts(facts: readonly Fact[], { text, factType }: Filter): readonly Fact[] {
  const words = text.trim().toLowerCase();
  if (words === '' && factType === '') return facts;
  return facts.filter(
    (fact) => chosen(factType, fact.type) && (words === '' || searchable(fact).includes(words)),
  );
}

export function shownFrames(frames: readonly NumberedFrame[], filter: Filter): readonly NumberedFrame[] {
  const words = filter.text.trim().toLowerCase();
  const { dialect, connection, direction, frameType } = filter;
  if (`${words}${dialect}${connection}${direction}${frameType}` === '') return frames;
  return frames.filter(
    (frame) =>
      chosen(dialect, frame.dialect) &&
      chosen(connection, frame.connection) &&
      chosen(direction, frame.direction) &&
      chosen(frameType, summaryOfFrame(frame).type) &&
      (words === '' || searchableFrame(frame).includes(words)),
  );
}

export type Choices = {
  readonly factTypes: readonly string[];
  readonly dialects: readonly string[];
  readonly connections: readonly string[];
  readonly frameTypes: readonly string[];
};

/** What there is to choose from: only what has been seen, and what is chosen already. */
export function choicesOf(facts: readonly Fact[], frames: readonly NumberedFrame[], filter: Filter): Choices {
  const seen = (values: Iterable<string>, choice: string): string[] =>
    [...new Set(choice === '' ? values : [...values, choice])].sort();
  return {
    factTypes: seen(
      facts.map(({ type }) => type),
      filter.factType,
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
