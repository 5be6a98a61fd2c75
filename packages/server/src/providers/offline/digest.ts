/**
 * A digest of a conversation by extraction: known facts about the user, requests, actions, the last answer. It reads its own
 * digests, so that repeated compactions preserve them.
 */
import { textOf } from '@parlance/protocol';
import type { PromptItem } from '../../core/ports/provider.ts';
import { nameIn } from './name.ts';
import { outcomeOf } from './result.ts';
import { shorten } from './text/quote.ts';

const LONGEST = 1_500;
const ASKED = 'The user asked:';
const DONE = 'Done:';
const LAST = 'Last answer:';

/** Never longer than `limit`. */
export function digest(items: readonly PromptItem[], limit: number): string {
  const asked = items.flatMap(askedIn);
  const done = doneIn(items);
  const last = items.findLast((item) => item.kind === 'text');
  const name = items.map(nameFrom).findLast((found) => found !== null);

  const head = name ? [`The user's name is ${name}.`] : [];
  const tail = last?.kind === 'text' ? [`${LAST} ${shorten(last.text, Math.max(40, limit / 5))}`] : [];
  const foreign = items.flatMap((item) =>
    item.kind === 'summary' && !item.text.includes(ASKED)
      ? [`Before that: ${shorten(item.text, limit / 3)}`]
      : [],
  );
  const fixed = [...head, ...foreign, ...tail].join('\n').length + ASKED.length + DONE.length + 40;
  const room = Math.max(limit - fixed, 0);
  const lines = [
    ...head,
    ...foreign,
    ...section(
      ASKED,
      asked.map((text) => `- “${text}”`),
      room * 0.55,
    ),
    ...section(DONE, done, room * 0.45),
    ...tail,
  ];
  return cut(lines.join('\n'), limit);
}

/** The digest of the items of a prompt: at most half as long, and never more than a page. */
export function compact(items: readonly PromptItem[]): string {
  const size = items.reduce((sum, item) => sum + sizeOf(item), 0);
  const text = digest(items, Math.min(LONGEST, Math.max(Math.floor(size / 2), 24)));
  return text === '' ? 'Nothing was said.' : text;
}

/** The first user messages that a digest contains, in order. */
export function askedInDigest(text: string): string[] {
  const start = text.indexOf(ASKED);
  if (start === -1) return [];
  const asked: string[] = [];
  for (const line of text.slice(start + ASKED.length + 1).split('\n')) {
    const match = /^- “(.*)”$/.exec(line);
    if (match?.[1]) asked.push(match[1]);
    else if (!line.startsWith('- …')) break;
  }
  return asked;
}

function askedIn(item: PromptItem): string[] {
  if (item.kind === 'summary') return askedInDigest(item.text);
  if (item.kind !== 'user') return [];
  const text = shorten(textOf(item.parts), 120);
  return [text === '' ? '(no text)' : text];
}

function nameFrom(item: PromptItem): string | null {
  if (item.kind === 'user') return nameIn(textOf(item.parts));
  return item.kind === 'summary' ? nameIn(item.text) : null;
}

function doneIn(items: readonly PromptItem[]): string[] {
  const lines: string[] = [];
  const results = new Map(items.flatMap((item) => (item.kind === 'result' ? [[item.call, item]] : [])));
  for (const item of items) {
    if (item.kind === 'summary') lines.push(...linesAfter(item.text, DONE));
    if (item.kind !== 'call') continue;
    const result = results.get(item.call);
    const text = result ? textOf(result.parts) : '';
    const failed = result?.failed ?? true;
    const outcome = outcomeOf({ tool: item.tool, input: item.input, text, failed });
    const output = 'output' in outcome ? shorten(outcome.output, 60) : '';
    const input = shorten(JSON.stringify(item.input), 80);
    lines.push(`- ${item.tool} ${input}: ${outcome.kind}${output === '' ? '' : `, ${output}`}`);
  }
  return lines;
}

function linesAfter(text: string, heading: string): string[] {
  const start = text.indexOf(`${heading}\n`);
  if (start === -1) return [];
  const lines = text.slice(start + heading.length + 1).split('\n');
  const end = lines.findIndex((line) => !line.startsWith('- '));
  return (end === -1 ? lines : lines.slice(0, end)).filter((line) => !line.startsWith('- …'));
}

/** The first line and as many of the latest as fit. */
function section(heading: string, lines: readonly string[], room: number): string[] {
  const first = lines[0];
  if (first === undefined) return [];
  const latest: string[] = [];
  let left = room - first.length;
  for (const line of lines.slice(1).reverse()) {
    left -= line.length + 1;
    if (left < 0) break;
    latest.unshift(line);
  }
  const missing = lines.length - 1 - latest.length;
  return [heading, first, ...(missing > 0 ? [`- … ${missing} more`] : []), ...latest];
}

const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit - 1)}…`.toWellFormed();

function sizeOf(item: PromptItem): number {
  switch (item.kind) {
    case 'user':
    case 'result':
      return textOf(item.parts).length;
    case 'call':
      return item.tool.length + JSON.stringify(item.input).length;
    case 'text':
    case 'reasoning':
    case 'summary':
      return item.text.length;
  }
}
