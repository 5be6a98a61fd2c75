/** The examples of a dialect, ready to be edited and sent. */
import type { Dialect, DialectExample } from '@parlance/sdk';
import { type Filling, filled, filledPath } from './fill.ts';

export type Example = DialectExample & {
  /** the message that it is an example of */
  readonly name: string;
};

export const examplesOf = ({ messages }: Dialect): readonly Example[] =>
  messages.flatMap(({ name, examples }) => examples.map((example) => ({ ...example, name })));

/** The frame of an example with the ids of the connection. */
export function frameOf({ transport }: Dialect, frame: Example['frame'], filling: Filling): object {
  const made = filled(frame, filling);
  if (transport !== 'requests' || typeof frame.path !== 'string') return made;
  return { ...made, path: filledPath(frame.path, filling) };
}

/** The first message of a client. */
export function firstFrame(dialect: Dialect, filling: Filling): object {
  const [snippet] = dialect.snippets.filter(({ kind }) => kind === 'socket');
  const frame = snippet?.kind === 'socket' ? snippet.frames[0] : examplesOf(dialect)[0]?.frame;
  return frame === undefined ? {} : frameOf(dialect, frame, filling);
}
