/**
 * Files of a working folder for people: what the agent of the session could read for them without approval, so that nobody sees
 * more than by asking it.
 */
import { normalize } from 'node:path';
import { Fault, type Principal, requirePermission } from '@parlance/protocol';
import type { CheckpointedSession, FileVersion } from '../ports/checkpoints.ts';
import type { FolderPage, FoundPaths, OpenedFile } from '../ports/folder-files.ts';
import type { SessionRef } from '../ports/session-ref.ts';
import { maySee } from '../session/approvals.ts';
import { decisionOf } from '../session/rules.ts';
import type { EngineInternals } from './engine-internals.ts';
import { offeredTo } from './model-step.ts';
import { folderOf } from './session-folder.ts';
import type { TurnDeps } from './turn-deps.ts';

/** A session, or what one would begin with. */
export type FilesPlace =
  | { readonly session: SessionRef }
  | { readonly session?: undefined; readonly agent?: string | undefined; readonly cwd?: string | undefined };

/** Paths are relative to the working folder. Throws `not_found` for what is missing, hidden or outside of it. */
export type SessionFiles = {
  list(path: string): Promise<FolderPage>;
  /** Paths that contain the text; without a text, files that were written last. */
  find(text: string, signal: AbortSignal): Promise<FoundPaths>;
  /** The file as it is now, or a version that `versions` names. */
  open(path: string, version?: string): Promise<OpenedFile>;
  /** What calls of the session have made of the file, the oldest first; before them, as it was before the first call. */
  versions(path: string): Promise<readonly FileVersion[]>;
};

type Place = {
  readonly agent: string;
  /** of a sub-agent, the tools of its parent */
  readonly most: readonly string[] | undefined;
  readonly root: string;
  readonly session: CheckpointedSession | null;
};

/** Throws `forbidden` if the caller may not send messages, or if the agent cannot read files. */
export async function sessionFiles(
  internals: EngineInternals,
  principal: Principal,
  given: FilesPlace,
): Promise<SessionFiles> {
  requirePermission(principal, 'chat:send');
  const { deps } = internals;
  const { files, checkpoints } = deps;
  const { agent, most, root, session } = await placeOf(internals, principal, given);
  const tools = offeredTo(deps, agent, {}, most);
  if (!files || !tools.has(LIST) || !tools.has(READ))
    throw new Fault('forbidden', 'This agent cannot read files.');
  const check = (tool: string, path: string) => checkRules(deps, principal, tool, path);
  return {
    list(path) {
      check(LIST, path);
      return forPeople(() => files.list(root, path));
    },
    find(text, signal) {
      check(LIST, '.');
      return forPeople(() => files.find(root, text, signal));
    },
    open(path, version) {
      check(READ, path);
      return forPeople(async () => {
        if (version === undefined) return files.open(root, path);
        const bytes = session && (await checkpoints?.content({ session, root, path, version }));
        if (!bytes) throw new Fault('not_found', `There is no such version of ${path}.`);
        return {
          size: bytes.length,
          mark: version,
          read: async (position, length) => bytes.slice(position, position + length),
          [Symbol.asyncDispose]: async () => undefined,
        };
      });
    },
    versions(path) {
      check(READ, path);
      return forPeople(async () => (session && (await checkpoints?.versions({ session, root, path }))) ?? []);
    },
  };
}

/** The tools that do the same for agents. */
const LIST = 'list_files';
const READ = 'read_file';

async function placeOf(
  { deps, sessions }: EngineInternals,
  principal: Principal,
  place: FilesPlace,
): Promise<Place> {
  if (place.session === undefined) {
    const { id } = deps.catalog.first(deps.catalog.defaultDomain, place.agent);
    if (place.cwd !== undefined && !deps.folders)
      throw new Fault('invalid', 'This server does not allow session folders.');
    const root = place.cwd === undefined ? deps.root : ((await deps.folders?.admit(place.cwd)) ?? deps.root);
    return { agent: id, most: undefined, root, session: null };
  }
  const ref = place.session;
  return sessions.use(ref, async (session) => {
    await session.fresh();
    const { created, agent } = session.state;
    if (!created || !maySee(ref, principal)) throw new Fault('not_found', 'There is no such session.');
    const { root } = await forPeople(async () => folderOf(session, deps));
    return {
      agent: (agent ?? deps.catalog.first(created.domain)).id,
      most: created.parent?.tools,
      root,
      session: { ...ref, createdAt: created.at },
    };
  });
}

/** What a rule lets the agent do only with approval, only those who may approve can do. */
function checkRules({ rules = [] }: TurnDeps, principal: Principal, tool: string, path: string): void {
  const literal = [...new Set([path, normalize(path)])].map((name) => JSON.stringify({ path: name }));
  const decision = decisionOf(rules, [tool], { literal });
  if (decision === 'deny') throw new Fault('forbidden', 'A rule of this server does not allow this.');
  if (decision === 'ask') requirePermission(principal, 'tool:approve');
}

/** The reasons of tools, as answers to a person. */
async function forPeople<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof Fault && (thrown.code === 'tool_failed' || thrown.code === 'tool_invalid'))
      throw new Fault('not_found', thrown.message, { cause: thrown });
    throw thrown;
  }
}
