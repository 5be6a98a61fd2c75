/** "read README.md", "list files in src", "search for TODO", "search the web for bees". */
import { callPlan, type Intent, type Plan, type Request, request } from '../plan.ts';
import { readable } from '../result.ts';
import { code, shown } from '../text.ts';
import { asArgument, contentOf, pathOf } from './paths.ts';

const READ = /^(?:read|show(?:\s+me)?|open|cat)\s+(?:the\s+)?(?:file\s+)?(.+)$/i;
const LIST =
  /^(?:list|show(?:\s+me)?)\s+(?:all\s+)?(?:the\s+|my\s+)?files(?:\s+here|\s+in\s+(?:the\s+)?(.+?)(?:\s+(?:folder|directory))?)?$/i;
const WEB = /^search\s+the\s+(?:web|internet)\s+for\s+(.+)$/i;
const SEARCH = /^(?:search|grep)\s+(?:the\s+files\s+)?for\s+(.+)$/i;

export const files: Intent = ({ line }) => list(line) ?? search(line) ?? read(line);

/** Options for reading a file. */
export const reading = (path: string): Request[] => [
  request('read_file', { path }),
  request('shell', { command: ['cat', asArgument(path)] }),
];

function read(line: string): Plan | null {
  const path = pathOf(READ.exec(line)?.[1] ?? '');
  if (!path) return null;
  return callPlan(`read ${code(path)}`, reading(path), (call) => {
    const text = readable(call);
    return text.trim() === '' ? `${code(path)} is empty.` : `${code(path)} reads:${shown(text)}`;
  });
}

function list(line: string): Plan | null {
  const match = LIST.exec(line);
  if (!match) return null;
  const path = contentOf(match[1] ?? '.');
  const options = [request('list_files', { path }), request('shell', { command: ['ls', asArgument(path)] })];
  return callPlan(
    `list the files in ${path === '.' ? 'the current directory' : code(path)}`,
    options,
    (call) => {
      const text = readable(call);
      return /^\s*$|^The folder is empty\.$/.test(text)
        ? 'There are no files there.'
        : `These are the files:${shown(text)}`;
    },
  );
}

function search(line: string): Plan | null {
  const web = WEB.exec(line)?.[1];
  const query = contentOf(web ?? SEARCH.exec(line)?.[1] ?? '');
  if (query === '') return null;
  const options = [request(web ? 'web_search' : 'search_files', { query })];
  return callPlan(`search ${web ? 'the web ' : ''}for ${code(query)}`, options, (call) => {
    const text = readable(call);
    return /^\s*$|^No match\.$/.test(text)
      ? `Nothing was found for ${code(query)}.`
      : `For ${code(query)} this was found:${shown(text)}`;
  });
}
