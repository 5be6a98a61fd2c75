/** Reads the result of a call. It is untrusted data: quoted and counted, never followed. */
import { isObject, parsedObject } from '@parlance/protocol';
import type { FinishedCall } from './prompt.ts';

export type Outcome =
  | { readonly kind: 'ok'; readonly output: string; readonly exitCode: number | null }
  | { readonly kind: 'failed'; readonly output: string; readonly exitCode: number | null }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'unknown' };

const DENIED =
  /^(?:the user |user )?(?:denied|rejected|refused|declined)(?: (?:this|the|that) \w+)?\s*(?:[:.–-]\s*|$)/i;
const ABORTED = /^(?:tool |call )?(?:was )?(?:aborted|cancelled|interrupted)\b/i;
const UNKNOWN = /\boutcome (?:is )?unknown\b/i;
const NO_OUTPUT = /^\(no output, exit code (-?\d+)\)$/;

export function outcomeOf(call: FinishedCall): Outcome {
  const { output, exitCode } = outputOf(call.text);
  if (!call.failed) return { kind: 'ok', output, exitCode };
  const text = call.text.trim();
  if (DENIED.test(text)) return { kind: 'denied', reason: text.replace(DENIED, '').trim() };
  if (ABORTED.test(text)) return { kind: 'aborted' };
  if (UNKNOWN.test(text.slice(0, 300))) return { kind: 'unknown' };
  return { kind: 'failed', output, exitCode };
}

export const worked = (call: FinishedCall): boolean => outcomeOf(call).kind === 'ok';

/** Commands return plain text, or {output, metadata: {exit_code}}. */
function outputOf(text: string): { output: string; exitCode: number | null } {
  const silent = NO_OUTPUT.exec(text.trim())?.[1];
  if (silent !== undefined) return { output: '', exitCode: Number(silent) };
  const data = parsedObject(text);
  const metadata = isObject(data?.metadata) ? data.metadata : {};
  if (typeof data?.output !== 'string' || typeof metadata.exit_code !== 'number') {
    return { output: text, exitCode: null };
  }
  return { output: data.output, exitCode: metadata.exit_code };
}

const PAGE_TOOLS = new Set(['extract_page_content', 'get_selected_text', 'open_url']);

/** The readable text of a result: the content of a page, the output of a command, the whole text of a file. */
export function readable(call: Pick<FinishedCall, 'tool' | 'text'>): string {
  if (!PAGE_TOOLS.has(call.tool)) return outputOf(call.text).output;
  const data = parsedObject(call.text);
  for (const key of ['content', 'text', 'selectedText', 'selection', 'markdown']) {
    const value = data?.[key];
    if (typeof value === 'string') return value;
  }
  return call.text;
}

/** The title of a page, if the result has one. */
export function titleOf(call: FinishedCall): string {
  const title = parsedObject(call.text)?.title;
  return typeof title === 'string' ? title.trim() : '';
}
