/** A session as a Markdown document. */
import { textOf } from '@parlance/protocol';
import type { Entry } from './fold.ts';

export type Document = {
  readonly title: string;
  readonly agent: string;
  readonly createdAt: number;
  readonly entries: readonly Entry[];
};

export const documentOf = (
  { createdAt }: { readonly createdAt: number },
  { title, entries }: Pick<Document, 'title' | 'entries'>,
): Document => ({ title: title || 'Untitled', agent: 'Assistant', createdAt, entries });

export function markdownOf({ title, agent, createdAt, entries }: Document): string {
  const head = `# ${oneLine(title)}\n\n*${timeOf(createdAt)}*\n`;
  return [head, ...entries.map((entry) => section(entry, agent))].join('\n');
}

function section(entry: Entry, agent: string): string {
  switch (entry.kind) {
    case 'user':
      return `## You\n\n${textOf(entry.parts)}\n${attachments(entry)}`;
    case 'agent':
      return `## ${oneLine(agent)}\n\n${entry.text}${entry.interrupted ? ' …' : ''}\n`;
    case 'note':
      return `> ${oneLine(entry.text)}\n`;
    case 'call': {
      const { tool, input, result } = entry;
      const output = result ? `\n${fenced(textOf(result.parts), '')}` : '';
      const summary = `${escaped(tool)}: ${result?.outcome ?? 'not finished'}`;
      return `<details><summary>${summary}</summary>\n\n${fenced(JSON.stringify(input, null, 2), 'json')}${output}\n</details>\n`;
    }
  }
}

const attachments = ({ parts }: Extract<Entry, { kind: 'user' }>): string =>
  parts
    .flatMap((part) =>
      part.type === 'text' || part.type === 'page' ? [] : [part.type === 'file' ? part.name : part.mime],
    )
    .map((name) => `\n*Attachment: ${oneLine(name)}*\n`)
    .join('');

/** Uses a fence that is longer than any run of backticks in the text. */
function fenced(text: string, language: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0);
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text}\n${fence}\n`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const escaped = (text: string): string => Bun.escapeHTML(oneLine(text));

export const timeOf = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
