/** Restores files of a session, and shows beforehand what that would do. */
import { asFault, type DurableEventBody, Fault, type InputId, type RewoundFiles } from '@parlance/protocol';
import type { CheckpointedSession, RewindPreview, RewindTarget } from '../ports/checkpoints.ts';
import type { FileRewind } from '../session/session-state.ts';
import { inputSeq } from './decision-context.ts';
import type { Session } from './session.ts';
import { folderOf } from './session-folder.ts';
import type { TurnDeps } from './turn-deps.ts';

/** `conversation`: whether that can be rewound as well. `unprotected`: why there is no checkpoint of some calls. */
export type PreviewedRewind = RewindPreview & {
  readonly conversation: boolean;
  readonly unprotected: readonly string[];
};

export type RewindQuestion = { readonly to?: InputId | undefined; readonly undo?: string | undefined };

const keyOf = ({ ref, state }: Session): CheckpointedSession => ({
  ...ref,
  createdAt: state.created?.at ?? 0,
});

/** What a rewind would do now. Throws `busy` while a turn runs. */
export async function previewRewind(
  session: Session,
  deps: TurnDeps,
  { to, undo }: RewindQuestion,
): Promise<PreviewedRewind> {
  const { state } = session;
  if (!state.created) throw new Fault('not_found', 'There is no such session.');
  if (state.turn || state.rewinding)
    throw new Fault('busy', 'A turn is running; try again after it has ended.');
  const from = to === undefined ? undefined : await inputSeq(session, to);
  if (to !== undefined && from === undefined)
    throw new Fault('not_found', 'There is no such message in this session.');
  const target = targetOf({ from, undoes: undo });
  const { turns } = await session.context();
  const conversation =
    to === undefined
      ? state.rewound?.rewind === undo
      : turns.some(({ id }) => id === to) && (from ?? 0) > state.cutAt;
  const unprotected = from === undefined ? [] : await unprotectedSince(session, from);
  if (!deps.checkpoints) return { files: [], more: 0, conversation, unprotected };
  const { root } = await folderOf(session, deps);
  const known = await deps.checkpoints.knows(keyOf(session));
  const preview = known
    ? await deps.checkpoints.preview({ ...target, session: keyOf(session), root })
    : { files: [], more: 0 };
  return { ...preview, conversation, unprotected };
}

function targetOf({ from, undoes }: Pick<FileRewind, 'from' | 'undoes'>): RewindTarget {
  if ((from === undefined) === (undoes === undefined))
    throw new Fault('invalid', 'A rewind names a message ("to") or the rewind that it undoes ("undo").');
  return undoes === undefined ? { from: from ?? 0 } : { undoes };
}

/** Whether a call since that event may have changed files, with a checkpoint or without. */
export async function mayHaveFiles(
  session: Session,
  deps: TurnDeps,
  from: number | undefined,
): Promise<boolean> {
  if (await deps.checkpoints?.knows(keyOf(session))) return true;
  return from !== undefined && (await unprotectedSince(session, from)).length > 0;
}

async function unprotectedSince(session: Session, from: number): Promise<string[]> {
  const reasons = new Set<string>();
  for await (const event of session.events(from - 1))
    if (event.type === 'tool.ended' && event.files?.unprotected) reasons.add(event.files.unprotected);
  return [...reasons];
}

/** Restores the files of a rewind and records the outcome. After a crash, it is called again. */
export async function restoreFiles(session: Session, deps: TurnDeps, request: FileRewind): Promise<void> {
  const { rewind, undoes, by, from, overwrite } = request;
  let files: RewoundFiles;
  try {
    const { root } = await folderOf(session, deps);
    if (!deps.checkpoints) throw new Fault('invalid', 'Checkpoints are switched off.');
    const target = targetOf({ from, undoes });
    files = await deps.checkpoints.restore({ ...target, session: keyOf(session), root, rewind, overwrite });
    const missing = from === undefined ? [] : await unprotectedSince(session, from);
    if (missing.length > 0)
      files = { ...files, failed: `Some calls ran without a checkpoint: ${missing.join('; ')}.` };
  } catch (thrown) {
    const fault = asFault(thrown);
    deps.log.warn({ err: fault, session: session.ref.id, rewind }, 'rewind failed');
    const failed = fault.code === 'internal' ? 'It stopped: some files may not be restored.' : fault.message;
    files = { restored: [], kept: [], failed };
  }
  const rewound: DurableEventBody = {
    type: 'files.rewound',
    rewind,
    ...(undoes !== undefined && { undoes }),
    by,
    ...files,
  };
  await session.transact(({ rewinding }) => (rewinding?.rewind === rewind ? [rewound] : []));
}
