/** How approvals are put into words. Pure. */
import type { ApprovalState } from '@parlance/sdk';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A command as a shell would be given it: every word is told apart from the next. */
export const commandLine = (command: readonly string[]): string =>
  command.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');

/** What "always" would allow, of the key that it is kept under. */
export function grantText(grant: string): { readonly what: string; readonly exactly: string } {
  if (grant.startsWith('shell:'))
    return { what: 'commands of the kind', exactly: grant.slice('shell:'.length) };
  if (grant.startsWith('mcp:')) {
    const [server = '', ...tool] = grant.slice('mcp:'.length).split(':');
    return { what: `every call to ${server} of the tool`, exactly: tool.join(':') };
  }
  return { what: 'every use of', exactly: grant };
}

const DONE = { once: 'Allowed once', always: 'Allowed always', deny: 'Denied' } as const;

/** `here`: it was this page that answered. Null while it waits. */
export function answerText(state: ApprovalState, here: boolean): string | null {
  switch (state.status) {
    case 'pending':
      return null;
    case 'lapsed':
      return 'Settled without an answer from here.';
    case 'answered': {
      const who = here ? 'by you' : `by ${state.by} over ${state.dialect}`;
      const words = state.reason ?? state.said;
      return `${DONE[state.answer]} ${who}${words === undefined || words === '' ? '.' : `: “${words}”`}`;
    }
  }
}
