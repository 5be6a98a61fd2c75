/** A session as a file: lines of JSON, which can be imported, or a document. */
import type { Engine, SessionRecord } from '../../core/index.ts';
import { exportedLines } from '../../core/index.ts';
import { transcriptOf } from './transcript/fold.ts';
import { htmlOf } from './transcript/html.ts';
import { documentOf, markdownOf } from './transcript/markdown.ts';

type Format = 'jsonl' | 'markdown' | 'html';

const FILES: Readonly<Record<Format, { readonly type: string; readonly ending: string }>> = {
  jsonl: { type: 'application/x-ndjson', ending: 'jsonl' },
  markdown: { type: 'text/markdown; charset=utf-8', ending: 'md' },
  html: { type: 'text/html; charset=utf-8', ending: 'html' },
};

export async function exportAnswer(engine: Engine, record: SessionRecord, format: Format): Promise<Response> {
  const body = format === 'jsonl' ? await linesOf(engine, record) : await textOf(engine, record, format);
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

async function textOf(engine: Engine, record: SessionRecord, format: 'markdown' | 'html'): Promise<string> {
  const document = documentOf(record, await transcriptOf(engine.allEvents(record.ref)));
  return format === 'markdown' ? markdownOf(document) : htmlOf(document, { shared: false });
}

/**
 * Reads pages from the store at the client's pace. Resolves after the first page, so that a session erased by
 * then is answered with an error. A later failure breaks the transfer; the client notices because the header
 * has the number of lines.
 */
async function linesOf(engine: Engine, record: SessionRecord): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  const pages = exportedLines(record, (after, limit) => engine.events(record.ref, after, limit));
  let page = await pages.next();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (page.done) return controller.close();
      controller.enqueue(encoder.encode(page.value));
      page = await pages.next();
    },
    async cancel() {
      await pages.return();
    },
  });
}
