/** Sub-agents that work in a copy of the folder: before their turn ends, a person decides about what they have changed. */
import { Fault, type FileChange, type QuestionContent, visibleLine } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../ports/session-ref.ts';
import type { MergedChanges, WorktreeChanges } from '../ports/worktrees.ts';
import type { SettledQuestion } from '../session/session-state.ts';
import { questionAsked } from './call-plan.ts';
import { indented } from './project.ts';
import { folderOf } from './session-folder.ts';
import { type ActiveTurn, record } from './turn-deps.ts';

/** Copies the folder of the session for a sub-agent that does not exist yet. Throws `tool_failed` if that is not possible. */
export async function makeWorktree({ session, deps, signal }: ActiveTurn, child: SessionRef): Promise<void> {
  if (!deps.worktrees) throw new Fault('tool_failed', 'This server has no worktrees.');
  if (session.state.created?.ephemeral)
    throw new Fault('tool_failed', 'A session that is not stored has no worktrees.');
  const { root } = await folderOf(session, deps);
  await deps.worktrees.make(child, root, signal);
}

const APPLY = 'Apply';
const KEEP = 'Keep';
const DISCARD = 'Discard';
const ITEM = 'merge';

/**
 * At the end of a turn. Null: there is nothing to decide. `asked`: a person is asked first. Otherwise what became of the changes, in
 * words. After a crash, it is called again.
 */
export async function mergeWorktree(active: ActiveTurn): Promise<string | null> {
  const { session, deps, turn } = active;
  const { ref, state } = session;
  const { worktrees } = deps;
  if (!state.created?.worktree || !worktrees) return null;
  const answered = turn.settled.findLast(({ purpose }) => purpose === 'merge');
  const ask = async (): Promise<'asked' | null> => {
    const changes = await worktrees.changes(ref);
    if (changes.files.length === 0) {
      await worktrees.discard(ref);
      return null;
    }
    await record(active, [questionAsked(active, questionAbout(changes, state.created?.parent?.path.at(-1)))]);
    return 'asked';
  };
  try {
    if (!answered) return await ask();
    switch (choiceOf(answered)) {
      case APPLY: {
        const { hash } = Asked.parse(answered.data);
        const merged = await worktrees.apply(ref, { merge: answered.question, hash });
        // Something has changed since it was shown.
        return merged ? outcomeOf(merged) : await ask();
      }
      case DISCARD:
        await worktrees.discard(ref);
        return 'The changes were discarded.';
      case KEEP:
        return 'The changes were not applied to the working folder. They are kept in the worktree.';
    }
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return `The changes were not applied to the working folder: ${thrown.message}`;
  }
}

const Asked = z.object({ hash: z.string() });

function choiceOf({ outcome, answers }: SettledQuestion): typeof APPLY | typeof KEEP | typeof DISCARD {
  const chosen = outcome === 'answered' ? answers?.[ITEM]?.[0] : undefined;
  return chosen === APPLY || chosen === DISCARD ? chosen : KEEP;
}

const counted = (count: number): string => `${count} file${count === 1 ? '' : 's'}`;

const named = ({ path, change }: FileChange): string => `${visibleLine(path)} (${change})`;

function questionAbout({ files, more, hash }: WorktreeChanges, name = 'sub-agent'): QuestionContent {
  const isConflict = files.some(({ conflict }) => conflict !== undefined);
  const listed = files.map(
    (file) => `- ${named(file)}${file.conflict === undefined ? '' : `: not possible, ${file.conflict}`}`,
  );
  const patches = files.flatMap(({ patch }) => (patch === undefined ? [] : [indented(patch)]));
  const rest = more > 0 ? [`- and ${counted(more)} more`] : [];
  return {
    purpose: 'merge',
    requires: 'approve',
    title: `Apply the changes of ${name} to the working folder?`,
    questions: [
      {
        id: ITEM,
        header: 'Changes',
        text: [`${counted(files.length + more)}:\n\n${[...listed, ...rest].join('\n')}`, ...patches].join(
          '\n\n',
        ),
        options: [
          {
            label: APPLY,
            description: isConflict ? 'what is possible; the rest is kept' : 'to the working folder',
          },
          { label: KEEP, description: 'change nothing, and ask again after its next turn' },
          { label: DISCARD, description: 'delete the changes' },
        ],
        multiple: false,
        freeText: false,
      },
    ],
    data: { hash },
  };
}

function outcomeOf({ applied, kept, more }: MergedChanges): string {
  const said: string[] = [];
  if (applied.length > 0) said.push(`Applied to the working folder: ${applied.map(named).join(', ')}.`);
  if (kept.length > 0) {
    const reasons = kept.map(({ path, reason }) => `${visibleLine(path)}: ${reason}`);
    said.push(`Not applied, kept in the worktree: ${reasons.join('; ')}.`);
    said.push(...kept.flatMap(({ patch }) => (patch === undefined ? [] : [indented(patch)])));
  }
  if (more > 0) said.push(`${counted(more)} more are not listed.`);
  return said.join('\n\n');
}
