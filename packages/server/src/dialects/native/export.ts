/** A session as a file: lines of JSON, which can be imported, Markdown, or an HTML page. */
import { textOf } from '@parlance/protocol';
import type { Engine, Log, SessionRecord } from '../../core/index.ts';
import { exportedLines } from '../../core/index.ts';
import { type Document, documentOf, type Entry, timeOf, transcriptOf } from './transcript/fold.ts';
import { htmlOf } from './transcript/html.ts';

type Format = 'jsonl' | 'markdown' | 'html';

const FILES: Readonly<Record<Format, { readonly type: string; readonly ending: string }>> = {
  jsonl: { type: 'application/x-ndjson', ending: 'jsonl' },
  markdown: { type: 'text/markdown; charset=utf-8', ending: 'md' },
  html: { type: 'text/html; charset=utf-8', ending: 'html' },
};

export async function exportAnswer(
  { engine, log }: { readonly engine: Engine; readonly log: Log },
  record: SessionRecord,
  format: Format,
): Promise<Response> {
  const body =
    format === 'jsonl' ? await linesOf(engine, record, log) : await documentText(engine, record, format);
  const { type, ending } = FILES[format];
  const name = encodeURIComponent(`${record.ref.id}.${ending}`).replaceAll("'", '%27');
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename*=UTF-8''${name}`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  });
}

async function documentText(
  engine: Engine,
  record: SessionRecord,
  format: 'markdown' | 'html',
): Promise<string> {
  const document = documentOf(record, await transcriptOf(engine.allEvents(record.ref)));
  return format === 'markdown' ? markdownOf(document) : htmlOf(document, { shared: false });
}

/**
 * Reads pages from the store at the client's pace. Resolves after the first page, so that a session erased by
 * then is answered with an error. A later failure breaks the transfer; the client notices because the header
 * has the number of lines.
 */
async function linesOf(engine: Engine, record: SessionRecord, log: Log): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  const pages = exportedLines(record, (after, limit) => engine.events(record.ref, after, limit));
  let page = await pages.next();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (page.done) return controller.close();
      controller.enqueue(encoder.encode(page.value));
      try {
        page = await pages.next();
      } catch (thrown) {
        log.warn({ err: thrown, session: record.ref.id }, 'export interrupted');
        // Bun prints a reason to standard error.
        controller.error(undefined);
      }
    },
    async cancel() {
      await pages.return();
    },
  });
}

// Markdown

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
