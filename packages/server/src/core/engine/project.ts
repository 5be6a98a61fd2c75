/** Project instructions and skills of a turn: asks a person whether to use them, and records which are used. */
import { ProjectFile, type QuestionContent } from '@parlance/protocol';
import type { ProjectPlace, ProjectQuestion } from '../ports/project.ts';
import type { SettledQuestion } from '../session/session-state.ts';
import { questionAsked } from './call-plan.ts';
import { folderOf } from './session-folder.ts';
import { type ActiveTurn, record } from './turn-deps.ts';

/**
 * Before the first model call of a turn: looks at the working folder. Later calls of the turn, also after a restart, use what the
 * turn began with. A caller with its own instructions or without the agent's tools gets neither instructions nor skills. Returns true
 * if a person is asked first.
 */
export async function readProject(active: ActiveTurn): Promise<boolean> {
  const { session, turn, deps } = active;
  const { project } = deps;
  const { instructions, agentTools } = turn.terms;
  if (!project) return false;
  if (instructions !== undefined || agentTools === false) {
    session.project = null;
    return false;
  }
  const place = await placeOf(active);
  if (!place) return false;
  const before = session.state.instructions ?? [];
  if (turn.steps > 0) {
    if (session.project?.turn !== turn.id)
      session.project = { turn: turn.id, ...(await project.load(place, before)) };
    return false;
  }
  const answered = answerOf(turn.settled);
  if (answered) await project.decide(place, answered.files, { ...answered, at: deps.now() });
  const found = await project.look(place);
  if (!answered && turn.terms.project === 'ask') {
    const undecided = found.filter(({ use }) => use === 'new' || use === 'changed');
    const asked = undecided.length > 0 ? await project.ask(place, undecided) : [];
    if (asked.length > 0) {
      await record(active, [questionAsked(active, questionAbout(asked))]);
      return true;
    }
  }
  const files = answered?.use === 'used' ? withAccepted(found, answered.files) : found;
  if (!isSame(before, files))
    await record(active, [{ type: 'instructions.changed', turn: turn.id, files: [...files] }]);
  session.project = { turn: turn.id, ...(await project.load(place, files)) };
  return false;
}

/** Null if the folder cannot be used: the tools report it. */
async function placeOf({ session, deps }: ActiveTurn): Promise<ProjectPlace | null> {
  try {
    const { root, copyOf = root } = await folderOf(session, deps);
    return { owner: session.ref.owner, root: copyOf };
  } catch {
    return null;
  }
}

// The question to a person with the permission to approve.

const USE = 'Use';
const ITEM = 'use';

function questionAbout(files: readonly ProjectQuestion[]): QuestionContent {
  const names = files.map(({ path }) => path).join(', ');
  const shown = files.map(
    ({ path, text, isDiff }) =>
      `${path}${isDiff ? ', compared with what was accepted before' : ''}:\n\n${indented(text)}`,
  );
  return {
    purpose: 'instructions',
    requires: 'approve',
    title: `Use ${names} of this folder as instructions?`,
    questions: [
      {
        id: ITEM,
        header: 'Instructions',
        text: `The agent would follow this content as if you had written it.\n\n${shown.join('\n\n')}`,
        options: [
          { label: USE, description: 'until the content changes' },
          { label: 'Do not use', description: 'the turn continues without it' },
        ],
        multiple: false,
        freeText: false,
      },
    ],
    data: { files: files.map(({ path, hash }) => ({ path, hash })) },
  };
}

/** A block of code in Markdown, which its content cannot end. */
export const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');

const AskedFiles = ProjectFile.pick({ path: true, hash: true }).array();

type Answer = {
  readonly files: readonly Pick<ProjectFile, 'path' | 'hash'>[];
  readonly use: 'used' | 'declined';
  readonly by: string;
};

/** What a person has answered in this turn; null if nobody was asked. */
function answerOf(settled: readonly SettledQuestion[]): Answer | null {
  const last = settled.findLast(({ purpose }) => purpose === 'instructions');
  if (!last || last.outcome === 'withdrawn') return null;
  const isAccepted = last.outcome === 'answered' && last.answers?.[ITEM]?.[0] === USE;
  return { files: AskedFiles.parse(last.data?.files), use: isAccepted ? 'used' : 'declined', by: last.by };
}

/** Exactly what was accepted is used, also if the file has changed since it was shown: that is asked about in the next turn. */
function withAccepted(found: readonly ProjectFile[], accepted: Answer['files']): readonly ProjectFile[] {
  return found.map((file) => {
    const shown = accepted.find(({ path }) => path === file.path);
    return shown && shown.hash !== file.hash ? { ...shown, use: 'used' } : file;
  });
}

const isSame = (before: readonly ProjectFile[], after: readonly ProjectFile[]): boolean =>
  before.length === after.length &&
  before.every((file, at) => {
    const other = after[at];
    return other?.path === file.path && other.hash === file.hash && other.use === file.use;
  });
