/** The folder that the tools of a session work in. */
import { type Ask, Fault } from '@parlance/protocol';
import type { LiveSession } from './live-session.ts';
import type { TurnDeps } from './turn-deps.ts';

export type SessionFolder = {
  readonly root: string;
  /** its path from the working directory of the server on; empty if it is that, or outside of it */
  readonly inServer: string;
};

/**
 * Checked at each call: a session outlives what its folder was. Rejects with `tool_failed` if it cannot be used now. There
 * is nothing to wait for if it is the server's.
 */
export function folderOf(
  { state }: LiveSession,
  { root, folders }: Pick<TurnDeps, 'root' | 'folders'>,
): SessionFolder | Promise<SessionFolder> {
  const cwd = state.created?.cwd;
  return cwd === undefined ? { root, inServer: '' } : ownFolder(cwd, folders);
}

async function ownFolder(cwd: string, folders: TurnDeps['folders']): Promise<SessionFolder> {
  if (!folders) throw new Fault('tool_failed', 'Sessions cannot have folders of their own here.');
  return { root: cwd, inServer: await folders.check(cwd) };
}

/** What a person sees names the folder, if it is not the server's. */
export const withFolder = (ask: Ask, folder: string, { root }: Pick<TurnDeps, 'root'>): Ask =>
  folder === root ? ask : { ...ask, description: `${ask.description} Working folder: ${folder}` };
