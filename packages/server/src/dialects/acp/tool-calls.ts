/** Out: the presentation of tool calls. */

import { type Ask, type JsonObject, visible, visibleJson } from '@parlance/protocol';
import { patchedFiles, type ShownLine } from '@parlance/protocol/patch';
import type { Call, CallContent, Update } from './contract.ts';

type Diff = Extract<CallContent, { type: 'diff' }>;

const KINDS: Readonly<Record<string, Call['kind']>> = {
  read_file: 'read',
  list_files: 'read',
  search_files: 'search',
  web_search: 'search',
  fetch_page: 'fetch',
  apply_patch: 'edit',
  save_file: 'edit',
  shell: 'execute',
  local_shell: 'execute',
  update_plan: 'think',
};

const MAX_TITLE_LENGTH = 200;

export type ToolUse = { readonly call: string; readonly tool: string; readonly input: JsonObject };

export function callFields({ call, tool, input }: ToolUse): Call {
  const kind = KINDS[tool] ?? 'other';
  const paths = pathsOf(tool, input);
  return {
    toolCallId: call,
    title: titleOf(tool, input),
    name: tool,
    kind,
    status: 'pending',
    rawInput: visibleJson(input) as JsonObject,
    ...(paths.length > 0 && { locations: paths.map((path) => ({ path })) }),
  };
}

function titleOf(tool: string, input: JsonObject): string {
  const subject = subjectOf(input);
  const title = subject === null ? tool : KINDS[tool] === 'execute' ? subject : `${tool} ${subject}`;
  const line = visible(title).replace(/\s+/g, ' ').trim() || tool;
  return line.length <= MAX_TITLE_LENGTH ? line : `${line.slice(0, MAX_TITLE_LENGTH - 1)}…`;
}

/** The subject of the call, in one line. */
function subjectOf({ command, path, query, url, patch }: JsonObject): string | null {
  if (Array.isArray(command)) return command.map(String).join(' ');
  if (typeof patch === 'string')
    return (
      changesIn(patch)
        .map((change) => change.path)
        .join(', ') || null
    );
  const named = [path, query, url].find((value) => typeof value === 'string');
  return typeof named === 'string' ? named : null;
}

function pathsOf(tool: string, { path, patch }: JsonObject): string[] {
  if (KINDS[tool] !== 'read' && KINDS[tool] !== 'edit') return [];
  if (typeof patch === 'string') return changesIn(patch).map((change) => change.path);
  return typeof path === 'string' ? [path] : [];
}

/** The file changes of a call that writes files. */
export function diffsOf({ tool, input }: Omit<ToolUse, 'call'>): Diff[] {
  if (tool === 'save_file' && typeof input.path === 'string' && typeof input.content === 'string')
    return [{ type: 'diff', path: input.path, oldText: null, newText: input.content }];
  if (tool === 'apply_patch' && typeof input.patch === 'string') return changesIn(input.patch);
  return [];
}

export const diffsToApprove = ({ patch }: Ask, call: Omit<ToolUse, 'call'> | undefined): Diff[] =>
  patch === undefined ? (call ? diffsOf(call) : []) : changesIn(patch);

/** One diff per file, with the lines of the patch. Lenient, because this is only a preview. */
const changesIn = (patch: string): Diff[] =>
  patchedFiles(patch)
    .filter(({ change }) => change !== 'unknown')
    .map(({ change, path, moveTo, lines }) => {
      const without = (side: 'add' | 'remove'): string =>
        lines
          .flatMap(({ kind, text }) => (kind === 'keep' || (kind !== side && isChange(kind)) ? [text] : []))
          .join('\n');
      return {
        type: 'diff',
        path: moveTo ?? path,
        oldText: change === 'add' ? null : without('add'),
        newText: without('remove'),
      };
    });

const isChange = (kind: ShownLine['kind']): boolean => kind === 'add' || kind === 'remove';

/** The plan of the agent, if the call sets it. */
export function planOf({
  tool,
  input,
}: Omit<ToolUse, 'call'>): Extract<Update, { sessionUpdate: 'plan' }>['entries'] | null {
  if (tool !== 'update_plan' || !Array.isArray(input.steps)) return null;
  return input.steps.flatMap((entry) => {
    const { step, status } = (entry ?? {}) as { step?: unknown; status?: unknown };
    if (typeof step !== 'string') return [];
    const known = status === 'in_progress' || status === 'completed' ? status : 'pending';
    return [{ content: step, priority: 'medium' as const, status: known }];
  });
}
