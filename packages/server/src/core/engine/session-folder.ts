/** The working folder for the tools of a session. */
import { type Ask, Fault } from '@parlance/protocol';
import type { Session } from './session.ts';
import type { TurnDeps } from './turn-deps.ts';

export type SessionFolder = {
  readonly root: string;
  /** path relative to the server's working directory; empty if it is that directory, or outside of it */
  readonly inServer: string;
  /** the folder that `root` is a copy of */
  readonly copyOf?: string;
};

type FolderDeps = Pick<TurnDeps, 'root' | 'folders' | 'worktrees'>;

/**
 * Checked at each call, since the folder may change during a session. Rejects with `tool_failed` if it cannot
 * be used. Synchronous if the session uses the server's folder.
 */
export function folderOf(session: Session, deps: FolderDeps): SessionFolder | Promise<SessionFolder> {
  const { cwd, worktree } = session.state.created ?? {};
  const folder = cwd === undefined ? { root: deps.root, inServer: '' } : ownFolder(cwd, deps.folders);
  return worktree ? copyOf(session, deps, folder) : folder;
}

async function ownFolder(cwd: string, folders: TurnDeps['folders']): Promise<SessionFolder> {
  if (!folders) throw new Fault('tool_failed', 'This server does not allow session folders.');
  return { root: cwd, inServer: await folders.check(cwd) };
}

/** Rules see the paths of the folder that it is a copy of. */
async function copyOf(
  { ref }: Session,
  { worktrees }: FolderDeps,
  folder: SessionFolder | Promise<SessionFolder>,
): Promise<SessionFolder> {
  const { root, inServer } = await folder;
  if (!worktrees) throw new Fault('tool_failed', 'This server has no worktrees.');
  return { root: await worktrees.folder(ref), inServer, copyOf: root };
}

/** Adds the folder to the description of an approval, if it is not the server's. */
export const withFolder = (
  ask: Ask,
  { root, copyOf }: SessionFolder,
  server: Pick<TurnDeps, 'root'>,
): Ask => {
  if (copyOf === undefined && root === server.root) return ask;
  const folder = copyOf === undefined ? root : `a copy of ${copyOf}`;
  return { ...ask, description: `${ask.description} Working folder: ${folder}` };
};
