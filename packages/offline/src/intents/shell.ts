/** "run git status", "$ ls", "local shell: ls", and a fenced script. */
import { commandOf, typed } from '../command-line.ts';
import { callPlan, type Intent } from '../plan.ts';
import { code } from '../text.ts';

const LOCAL = /^local[ _]shell\s*[:,]\s*(.+)$/i;
const RUN = /^(?:run|execute)\s*:?\s+(?:the\s+command\s+)?(.+)$|^\$\s+(.+)$/i;
const FENCED = /^(?:run|execute)\b[^\n`]{0,60}\n?```[^\n]*\n([^`]{1,4000}?)\n?```/i;

export const shell: Intent = ({ line, text }) => {
  const local = LOCAL.exec(line)?.[1];
  const run = RUN.exec(line);
  const written = FENCED.exec(text)?.[1] ?? local ?? run?.[1] ?? run?.[2];
  if (written === undefined) return null;
  const command = commandOf(written);
  const tools = local ? ['local_shell'] : ['shell', 'local_shell'];
  return callPlan(
    `run ${code(typed(command))}${local ? ' in the local shell' : ''}`,
    tools.map((tool) => ({ tool, input: { command } })),
  );
};
