/** "run git status", "$ ls", "check the git status", "local shell: ls". */
import { commandOf, typed } from '../command-line.ts';
import { doing, type Intent, type Plan } from '../plan.ts';
import { code } from '../text/quote.ts';

const LOCAL = /^(?:in the )?local[ _]shell\s*[:,]\s*(.+)$/i;
const RUN =
  /^(?:run|execute|exec)\s*:?\s+(?:the\s+)?(?:(?:shell\s+|following\s+)*command\s*:?\s+)?(.+?)(?:\s+(?:in|with|using|on)\s+(?:the\s+|a\s+|my\s+)?(local[ _])?(?:shell|terminal|console))?$/i;
const PROMPT = /^\$\s+(.+)$/;
const FENCED = /^(?:run|execute)\b[^\n`]{0,60}\n?```[^\n]*\n([^`]{1,4000}?)\n?```/i;
const GIT_NOUN =
  /^(?:check|show|get|see|view|display|what(?:'s| is))\s+(?:me\s+)?(?:the\s+|my\s+|our\s+)?git\s+(status|log|diff|branch|remote|tag)(?:e?s)?$/i;
const BARE =
  /^(?:git\s+(?:status|log|diff|show|branch|add|commit|push|pull|fetch|checkout|switch|merge|rebase|reset|stash|tag|init|clone)(?:\s.*)?|ls(?:\s+-.*)?|pwd|(?:npm|yarn|pnpm|bun)\s+(?:test|run|install|ci|add)(?:\s.*)?)$/;

const NOUNS: { readonly [noun: string]: readonly string[] } = {
  tests: ['npm', 'test'],
  'the tests': ['npm', 'test'],
  'the test suite': ['npm', 'test'],
};

const GIT: { readonly [noun: string]: readonly string[] } = {
  status: ['git', 'status'],
  log: ['git', 'log', '--oneline', '-n', '20'],
  diff: ['git', 'diff'],
  branch: ['git', 'branch'],
  remote: ['git', 'remote', '-v'],
  tag: ['git', 'tag'],
};

export const shell: Intent = {
  name: 'shell',
  match({ line, text }) {
    const fenced = FENCED.exec(text)?.[1];
    if (fenced) return running(commandOf(fenced), false);
    const local = LOCAL.exec(line)?.[1];
    if (local) return running(commandOf(local), true);
    const run = RUN.exec(line);
    if (run?.[1]) return running(NOUNS[run[1].toLowerCase()] ?? commandOf(run[1]), run[2] !== undefined);
    const noun = GIT_NOUN.exec(line)?.[1]?.toLowerCase();
    if (noun) return running(GIT[noun] ?? ['git', noun], false);
    const written = PROMPT.exec(line)?.[1] ?? BARE.exec(line)?.[0];
    return written ? running(commandOf(written), false) : null;
  },
};

function running(command: readonly string[], local: boolean): Plan | null {
  if (command.length === 0) return null;
  const input = { command: [...command] };
  const tools = local ? ['local_shell'] : ['shell', 'local_shell'];
  const where = local ? ' in the local shell' : '';
  return doing(
    `run ${code(typed(command))}${where}`,
    tools.map((tool) => ({ tool, input })),
  );
}
