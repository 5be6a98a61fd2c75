/** Intents that call tools, in matching order. They can be combined to requests of several steps. */
import { callPlan, type Intent, type Plan, type Request, request, type Step } from '../plan.ts';
import type { FinishedCall } from '../prompt.ts';
import { readable, titleOf } from '../result.ts';
import { code, quoted, shown, summarise } from '../text.ts';

import { shell } from './shell.ts';

// "read README.md", "list files in src", "search for TODO", "search the web for bees".

const READ = /^(?:read|show(?:\s+me)?|open|cat)\s+(?:the\s+)?(?:file\s+)?(.+)$/i;
const LIST =
  /^(?:list|show(?:\s+me)?)\s+(?:all\s+)?(?:the\s+|my\s+)?files(?:\s+here|\s+in\s+(?:the\s+)?(.+?)(?:\s+(?:folder|directory))?)?$/i;
const WEB = /^search\s+the\s+(?:web|internet)\s+for\s+(.+)$/i;
const SEARCH = /^(?:search|grep)\s+(?:the\s+files\s+)?for\s+(.+)$/i;

const files: Intent = ({ line }) => list(line) ?? search(line) ?? read(line);

/** Options for reading a file. */
const reading = (path: string): Request[] => [
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

// Tools of a connected browser: "open https://…", "click #save", "summarise this page", "get the selected text".

const OPEN = /^(?:open|go\s+to|visit)\s+(https?:\/\/\S+)$/i;
const CLICK = /^click\s+(?:on\s+)?(?:the\s+)?(.+?)(?:\s+(?:button|link))?$/i;
const TYPE = /^(?:type|enter)\s+(.+)\s+into\s+([#.[]\S*)$/i;
const PAGE = /^(?:extract|read|summari[sz]e)\s+(?:this|the)\s+page$/i;
const SELECTED = /^(?:get|read|show(?:\s+me)?)\s+the\s+selected\s+text$|^what\s+is\s+selected$/i;

const web: Intent = ({ line }) => {
  const url = OPEN.exec(line)?.[1];
  if (url)
    return callPlan(`open ${url}`, [request('open_url', { url })], (call) => {
      const title = titleOf(call);
      return `${url} is open${title === '' ? '' : `: ${quoted(title)}`}.`;
    });
  if (PAGE.test(line))
    return dependent(callPlan('read the page', [request('extract_page_content', {})], summaryOf));
  if (SELECTED.test(line))
    return callPlan('get the selected text', [request('get_selected_text', {})], selection);
  const [, value, selector] = TYPE.exec(line) ?? [];
  if (value && selector)
    return manipulationPlan(`type ${code(value)} into ${code(selector)}`, {
      action: 'type',
      selector,
      value,
    });
  const target = contentOf(CLICK.exec(line)?.[1] ?? '');
  return target === ''
    ? null
    : manipulationPlan(`click ${code(target)}`, { action: 'click', selector: target });
};

/** Actions on a page need the page to be open. */
const dependent = ({ steps }: Plan): Plan => ({ steps: steps.map((step) => ({ ...step, dependent: true })) });

const manipulationPlan = (title: string, input: { [key: string]: string }): Plan =>
  dependent(callPlan(title, [request('dom_manipulation', input)], () => 'The browser reports success.'));

function summaryOf(call: FinishedCall): string {
  const text = readable(call);
  const title = titleOf(call);
  if (text.trim() === '') return 'The page has no text that I could read.';
  return `The page${title === '' ? '' : ` ${quoted(title)}`}, in short: ${summarise(text)}`;
}

function selection(call: FinishedCall): string {
  const text = readable(call);
  return text.trim() === '' ? 'Nothing is selected.' : `The selected text is:${shown(text)}`;
}

// "create file notes.txt with hello", "save hello to notes.txt", "replace A with B in notes.txt", "delete file notes.txt".

const CREATE = /^create\s+(?:a\s+)?(?:new\s+)?file\s+(?:called\s+)?(\S+?)\s+with(?=[\s:])\s*:?\s*([\s\S]+)$/i;
const SAVE = /^(?:save|write)\s+(.+)\s+to\s+(?:the\s+)?(?:file\s+)?(\S+|"[^"]+"|`[^`]+`)$/i;
const REPLACE = /^replace\s+(.+?)\s+(?:with|by)\s+(.+)\s+in\s+(?:the\s+)?(?:file\s+)?(\S+|"[^"]+"|`[^`]+`)$/i;

const DELETE = /^delete\s+(?:the\s+)?file\s+(\S+|"[^"]+"|`[^`]+`)$/i;

const edits: Intent = ({ line, text }) => {
  const [, created = '', content = ''] = CREATE.exec(text) ?? [];
  const [, saved = '', target = ''] = SAVE.exec(line) ?? [];
  const [, before = '', after = '', changed = ''] = REPLACE.exec(line) ?? [];
  const [, deleted = ''] = DELETE.exec(line) ?? [];
  const path = pathOf(created) ?? pathOf(target) ?? pathOf(changed) ?? pathOf(deleted);
  if (!path) return null;
  if (created) return creating(path, contentOf(content));
  if (target) return saving(path, contentOf(saved));
  if (deleted) return deleting(path);
  return replacing(path, contentOf(before), contentOf(after));
};

const patchOf = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

function creating(path: string, content: string): Plan {
  const lines = content.replace(/\n$/, '').split(/\r?\n/);
  const patch = patchOf(`*** Add File: ${path}`, ...lines.map((line) => `+${line}`));
  return callPlan(
    `create ${code(path)}`,
    [request('apply_patch', { patch })],
    () => `${code(path)} is written.`,
  );
}

const deleting = (path: string): Plan =>
  callPlan(
    `delete ${code(path)}`,
    [request('apply_patch', { patch: patchOf(`*** Delete File: ${path}`) })],
    () => `${code(path)} is deleted.`,
  );

const saving = (path: string, content: string): Plan =>
  callPlan(
    `save ${code(path)}`,
    [request('save_file', { path, content })],
    () => `${code(path)} is written.`,
  );

function replacing(path: string, before: string, after: string): Plan {
  const edit: Step = {
    title: `replace ${code(before)} with ${code(after)} in ${code(path)}`,
    dependent: true,
    run: (calls) => {
      const last = calls.at(-1);
      const hunks = last ? hunksOf(readable(last), before, after) : [];
      if (hunks.length === 0)
        return { text: `There is no ${code(before)} in ${code(path)}, so I changed nothing.` };
      const patch = patchOf(`*** Update File: ${path}`, ...hunks.flat());
      return {
        calls: [{ options: [request('apply_patch', { patch })], report: () => `${code(path)} is changed.` }],
      };
    },
  };
  const { steps } = callPlan(`read ${code(path)}`, reading(path), () => `I have read ${code(path)}.`);
  const reasoning = `To replace text I have to see it first. I read ${path}, look for the lines that hold it, and then change only those.`;
  return { reasoning, steps: [...steps, edit] };
}

/** One hunk per line: hunks are searched forward, so all equal lines are found. */
const hunksOf = (text: string, before: string, after: string): string[][] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.includes(before))
    .map((line) => ['@@', `-${line}`, `+${line.replaceAll(before, () => after)}`]);

// "echo hello", "hand off to the tester".

const echo: Intent = ({ text }) => {
  const value = contentOf(/^echo\s+([\s\S]+)$/i.exec(text)?.[1] ?? '');
  if (value === '') return null;
  const options = [request('echo', { value }), request('shell', { command: ['echo', value] })];
  return callPlan(`echo ${code(value)}`, options, (call) => `The echo came back:${shown(readable(call))}`);
};

const HAND =
  /^hand\s*(?:this\s+|it\s+)?(?:off|over)\s+to\s+(?:the\s+)?([\w-]+)(?:\s+agent)?(?:\s*(?:,|:|because|to|for)\s*(.+))?$/i;

const handoff: Intent = ({ line }) => {
  const [, said, why] = HAND.exec(line) ?? [];
  if (!said) return null;
  const agent = said.toLowerCase();
  const reason = why?.trim() || `The user asked for the ${agent}.`;
  const options = [request('handoff', { agent, reason })];
  return callPlan(`hand off to the ${agent}`, options, () => `The ${agent} has taken over: ${reason}`);
};

// Paths and content in a sentence.

const NAMED = /^(?:readme|license|licence|makefile|dockerfile|changelog|contributing|todo|notes)$/i;

/** Null if it does not look like a path. Anything in quotes is a path. */
function pathOf(written: string): string | null {
  const text = written.trim();
  const quotes = /^[`"'“](.+)[`"'”]$/.exec(text);
  if (quotes?.[1]) return quotes[1];
  if (/\s/.test(text) || /^https?:/i.test(text)) return null;
  const looksLikePath = /[./\\]/.test(text) || text.startsWith('~') || NAMED.test(text);
  return looksLikePath && /[\p{L}\p{N}_.]/u.test(text) ? text : null;
}

/** Prevents that it is read as an option. */
const asArgument = (path: string): string => (path.startsWith('-') ? `./${path}` : path);

/** Removes quotes, a fence or a colon around content. */
function contentOf(written: string): string {
  const text = written.trim();
  const fence = /^```[^\n]*\n([\s\S]*?)\n?```$/.exec(text);
  if (fence) return fence[1] ?? '';
  const first = text.charAt(0);
  const last = text.at(-1);
  const closing = first === '“' ? '”' : first;
  const wrapped = text.length > 1 && '`"\'“'.includes(first) && last === closing;
  return wrapped ? text.slice(1, -1) : text;
}

export const ACTIONS: readonly Intent[] = [echo, shell, edits, web, files, handoff];
