/** The working folder for the tools of a session. */
import { type Ask, Fault } from '@parlance/protocol';
import type { Session } from './session.ts';
import type { TurnDeps } from './turn-deps.ts';

export type SessionFolder = {
  readonly root: string;
  /** path relative to the server's working directory; empty if it is that directory, or outside of it */
  readonly inServer: string;
};

/**
 * Checked at each call, since the folder may change during a session. Rejects with `tool_failed` if it cannot
 * be used. Synchronous if the session uses the server's folder.
 */
export function folderOf(
  { state }: Session,
  { root, folders }: Pick<TurnDeps, 'root' | 'folders'>,
): SessionFolder | Promise<SessionFolder> {
  const cwd = state.created?.cwd;
  return cwd === undefined ? { root, inServer: '' } : ownFolder(cwd, folders);
}

async function ownFolder(cwd: string, folders: TurnDeps['folders']): Promise<SessionFolder> {
  if (!folders) throw new Fault('tool_failed', 'This server does not allow session folders.');
  return { root: cwd, inServer: await folders.check(cwd) };
}

/** Adds the folder to the description of an approval, if it is not the server's. */
export const withFolder = (ask: Ask, folder: string, { root }: Pick<TurnDeps, 'root'>): Ask =>
  folder === root ? ask : { ...ask, description: `${ask.description} Working folder: ${folder}` };
