/** Texts of approvals, and the pause before a key answers one. Without React: the terminal uses them, too. */
import type { Ask } from '@parlance/protocol';
import type { ApprovalState } from '@parlance/sdk';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A command line with shell quoting, so that arguments are unambiguous. */
export const commandLine = (command: readonly string[]): string =>
  command.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');

/** As descriptions have it, which are one line. */
const asLine = (text: string): string => text.replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** Marks a long command that the description has in part. */
const CUT = /\\n\[… (\d+) characters left out …\]/;

/** What the description says beyond the command, which is shown below it; null if that is nothing. */
export function reasonText({ command, description }: Pick<Ask, 'command' | 'description'>): string | null {
  const line = commandLine(command);
  const [mark = '', leftOut = '0'] = CUT.exec(description) ?? [];
  const part = asLine(line.slice(0, line.length - Number(leftOut)));
  const text = description.replace(part + mark, 'it').replace(asLine(line), 'it');
  return text === 'Runs it.' ? null : text;
}

/** Describes a grant key. */
export function grantText(grant: string): {
  readonly what: string;
  readonly exactly: string;
  readonly runs: 'run' | 'runs';
} {
  if (grant.startsWith('shell:'))
    return { what: 'commands like', exactly: grant.slice('shell:'.length), runs: 'run' };
  if (grant.startsWith('mcp:')) {
    const [server = '', ...tool] = grant.slice('mcp:'.length).split(':');
    // After @ is the version of its definition.
    return { what: `the ${server.split('@')[0]} tool`, exactly: tool.join(':'), runs: 'runs' };
  }
  return { what: '', exactly: grant, runs: 'runs' };
}

const DONE = { once: 'Allowed once', always: 'Always allowed', deny: 'Denied' } as const;

/** `here`: this page gave the answer. Null while it is pending. */
export function answerText(state: ApprovalState, here: boolean): string | null {
  switch (state.status) {
    case 'pending':
      return null;
    case 'lapsed':
      return 'Closed without an answer.';
    case 'answered': {
      const who = here ? 'by you' : `by ${state.by} via ${state.dialect}`;
      const reason = state.reason ?? state.said;
      return `${DONE[state.answer]} ${who}${reason === undefined || reason === '' ? '.' : `: “${reason}”`}`;
    }
  }
}

/** How long nothing may follow a key that answers an approval. People who type pause less between two letters. */
const PAUSE_MS = 900;
/** Keys that were pressed while the thread was busy are read in this time. */
const GRACE_MS = 100;

/**
 * Calls `act` after a second without input; the returned function cancels it. The second timer starts when the first has
 * fired, so that after a busy moment waiting keys are read before `act` is called.
 */
export function afterPause(act: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(act, GRACE_MS);
  }, PAUSE_MS);
  return () => clearTimeout(timer);
}
