/** "read README.md", "list files in src", "search for TODO", "summarise notes.md". */
import { doing, type Intent, type Plan, type Request, request } from '../plan.ts';
import { outcomeOf, readable } from '../result.ts';
import { code, shown } from '../text/quote.ts';
import { summarise } from '../text/summary.ts';
import type { Done } from '../turn.ts';
import { asArgument, contentOf, pathOf } from './paths.ts';

const READ =
  /^(?:read|show(?:\s+me)?|open|display|print|view|cat|look\s+(?:at|into)|what(?:'s|\s+is)\s+in)\s+(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(file\s+)?(.+?)(\s+file)?$/i;
const SUMMARISE = /^summari[sz]e\s+(?:the\s+)?(?:file\s+)?(\S+)(?:\s+file)?$/i;
const LIST =
  /^(?:list|show(?:\s+me)?|what(?:'s|\s+are))\s+(?:me\s+)?(?:all\s+)?(?:the\s+|my\s+)?(?:files|folder|directory(?:\s+contents?)?)(?:\s+(?:and\s+folders\s+)?(?:here|(?:in|of|under|inside)\s+(.+)))?$/i;
const HERE =
  /^(?:the\s+|this\s+|my\s+)?(?:(?:current|working|present)\s+)*(?:folder|directory|dir|working\s+directory)$/i;
const SEARCH =
  /^(?:search|look|grep|find)\s+(?:(?:in|through)\s+)?(?:the\s+|all\s+|my\s+)*(?:(?:files?|code|codebase|project|repository|repo|folder)\s+)?(?:for\s+)(.+?)(?:\s+in\s+(?:the\s+|all\s+|my\s+)*(?:files?|code|codebase|project|repository|repo))?$/i;
const FIND =
  /^(?:find|grep|locate)\s+(.+?)\s+in\s+(?:the\s+|all\s+|my\s+)*(?:files?|code|codebase|project|repository|repo)$/i;
const WEB =
  /^(?:(?:search|look)\s+(?:on\s+)?(?:the\s+)?(?:web|internet|online)\s+(?:for\s+)?(.+)|(?:google|web\s*search(?:\s+for)?:?)\s+(.+)|(?:search|look\s+up|find|look)\s+(?:for\s+)?(.+?)\s+(?:on\s+the\s+(?:web|internet)|online))$/i;

export const files: Intent = {
  name: 'files',
  match({ line }) {
    return web(line) ?? search(line) ?? list(line) ?? summary(line) ?? read(line);
  },
};

const reading = (path: string): Request[] => [
  request('read_file', { path }),
  request('shell', { command: ['cat', asArgument(path)] }),
];

function read(line: string): Plan | null {
  const match = READ.exec(line);
  const said = match?.[2];
  if (!said) return null;
  const named = match[1] !== undefined || match[3] !== undefined;
  const path = pathOf(said) ?? (named ? contentOf(said) : null);
  return path ? doing(`read ${code(path)}`, reading(path), (done) => contents(path, done)) : null;
}

function contents(path: string, done: Done): string {
  const text = plain(done);
  return text.trim() === '' ? `${code(path)} is empty.` : `${code(path)} reads:${shown(text)}`;
}

function summary(line: string): Plan | null {
  const path = pathOf(SUMMARISE.exec(line)?.[1] ?? '');
  if (!path) return null;
  return doing(
    `read ${code(path)}`,
    reading(path),
    (done) => `${code(path)}, in short: ${summarise(readable(done))}`,
  );
}

function list(line: string): Plan | null {
  const match = LIST.exec(line);
  if (!match) return null;
  const where = match[1]?.trim() ?? '';
  const here = HERE.test(where);
  const path =
    where === '' || here
      ? '.'
      : contentOf(
          where.replace(/^the\s+|\s+(?:folder|directory)$/gi, '').replace(/^(?:folder|directory)\s+/i, ''),
        );
  const command = path === '.' ? ['ls'] : ['ls', asArgument(path)];
  const options = [request('list_files', { path }), request('shell', { command })];
  const title = path === '.' ? 'list the files in the current directory' : `list the files in ${code(path)}`;
  // "the current directory" means the working directory of commands.
  return doing(title, here ? options.reverse() : options, listed);
}

function listed(done: Done): string {
  const text = plain(done);
  return /^\s*$|^There is nothing in /.test(text)
    ? 'There are no files there.'
    : `These are the files:${shown(text)}`;
}

function search(line: string): Plan | null {
  const query = contentOf(FIND.exec(line)?.[1] ?? SEARCH.exec(line)?.[1] ?? '');
  if (query === '') return null;
  const options = [request('search_files', { query }), request('web_search', { query })];
  return doing(`search for ${code(query)}`, options, (done) => found(query, done));
}

function web(line: string): Plan | null {
  const match = WEB.exec(line);
  const query = contentOf(match?.[1] ?? match?.[2] ?? match?.[3] ?? '');
  if (query === '') return null;
  const options = [request('web_search', { query })];
  return doing(`search the web for ${code(query)}`, options, (done) => found(query, done));
}

function found(query: string, done: Done): string {
  const text = plain(done);
  return /^\s*$|^No match\.$/.test(text)
    ? `Nothing was found for ${code(query)}.`
    : `For ${code(query)} this was found:${shown(text)}`;
}

function plain(done: Done): string {
  const outcome = outcomeOf(done);
  return outcome.kind === 'ok' ? outcome.output : done.text;
}
