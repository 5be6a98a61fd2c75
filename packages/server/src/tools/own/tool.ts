/** One tool of the operator: approval, timeout and errors. */
import { type Ask, Fault } from '@parlance/protocol';
import { defineTool, type Tool, type ToolContext } from '../../core/ports/tool.ts';
import { cutText } from '../cut.ts';
import type { OwnTool } from './definition.ts';
import { resultOf } from './result.ts';

const MESSAGE_CHARACTERS = 4_000;

export function ownTool(definition: OwnTool): Tool {
  const { name, description, input, parameters, repeatable, approval, untrusted } = definition;
  return defineTool({
    name,
    description,
    input,
    parameters,
    repeatable,
    asks: approval !== 'never',
    exclusive: 'if-asked',
    approval: (given) => askFor(definition, given),
    run: async (given, context) => {
      const result = resultOf(await outputOf(definition, given, context));
      return untrusted ? { ...result, untrusted: true } : result;
    },
  });
}

/** Only null means no approval: a function that returns nothing asks. */
async function askFor({ name, approval }: OwnTool, input: unknown): Promise<Ask | null> {
  if (approval === 'never') return null;
  const asked = typeof approval === 'function' ? await approval(input, {}) : undefined;
  if (asked === null) return null;
  return {
    kind: 'other',
    command: [name, JSON.stringify(input)],
    description: typeof asked === 'string' ? cutText(asked, MESSAGE_CHARACTERS) : `Uses the tool ${name}.`,
    grant: `own:${name}`,
  };
}

/** Ends with the signal of the turn or after the timeout, even if the tool keeps running. */
async function outputOf(
  { name, timeoutMs, run }: OwnTool,
  input: unknown,
  { signal: turn, root: folder, session, owner: user, call }: ToolContext,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([turn, timeout]);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([run(input, { signal, folder, session, user, call }), aborted]);
  } catch (thrown) {
    if (timeout.aborted && !turn.aborted)
      throw new Fault('tool_failed', `${name} did not finish within ${timeoutMs} ms and was stopped.`);
    if (isToolError(thrown)) throw new Fault('tool_failed', cutText(thrown.message, MESSAGE_CHARACTERS));
    throw thrown;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Compared by name, since the module may have its own copy of the class. */
const isToolError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && thrown.name === 'ToolError';
