/** "create file notes.txt with hello", "write hello to notes.txt", "save hello to …", "replace A with B in …". */
import { doing, type Intent, type Plan, request, type Step } from '../plan.ts';
import { readable } from '../result.ts';
import { code } from '../text/quote.ts';
import { asArgument, contentOf, pathOf } from './paths.ts';

const CREATE =
  /^(?:create|make|write|add)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:text\s+)?file\s+(?:called\s+|named\s+)?(\S+?)(?:\s*:\s*|\s+(?:with|containing|that\s+says|saying)(?=[\s:])\s*(?:the\s+)?(?:(?:contents?|text)(?=[\s:]))?\s*:?\s*)([\s\S]+)$/i;
const EMPTY =
  /^(?:create|make|add)\s+(?:a\s+|an\s+|the\s+)?(?:new\s+|empty\s+)*file\s+(?:called\s+|named\s+)?(\S+)$/i;
const WRITE = /^(?:write|put)\s+(.+)\s+(?:to|into|in)\s+(?:the\s+|a\s+)?(?:file\s+)?(\S+|"[^"]+"|`[^`]+`)$/i;
const SAVE =
  /^(?:save|store)\s+(.+)\s+(?:to|into|in|as)\s+(?:the\s+|a\s+)?(?:file\s+)?(\S+|"[^"]+"|`[^`]+`)$/i;
const SAVE_BLOCK =
  /^(save|write)\s+(?:this\s+)?(?:to|into|as)\s+(?:the\s+)?(?:file\s+)?(\S+?)\s*:\s*([\s\S]+)$/i;
const DELETE = /^(?:delete|remove)\s+(?:the\s+)?file\s+(.+)$/i;
const REPLACE =
  /^(?:replace|change)\s+(.+?)\s+(?:with|by|to)\s+(.+)\s+in\s+(?:the\s+)?(?:file\s+)?(\S+|"[^"]+"|`[^`]+`)$/i;

export const edits: Intent = {
  name: 'edits',
  match({ line, text }) {
    const create = CREATE.exec(text);
    const created = create && pathOf(create[1] ?? '');
    if (create && created) return creating(created, contentOf(create[2] ?? ''), false);
    const block = SAVE_BLOCK.exec(text);
    const blockPath = block && pathOf(block[2] ?? '');
    if (block && blockPath)
      return creating(blockPath, contentOf(block[3] ?? ''), /^save/i.test(block[1] ?? ''));
    return oneLine(line);
  },
};

function oneLine(line: string): Plan | null {
  const replace = REPLACE.exec(line);
  const replaced = replace && pathOf(replace[3] ?? '');
  if (replace && replaced)
    return replacing(contentOf(replace[1] ?? ''), contentOf(replace[2] ?? ''), replaced);
  for (const [pattern, save] of [
    [WRITE, false],
    [SAVE, true],
  ] as const) {
    const match = pattern.exec(line);
    const path = match && pathOf(match[2] ?? '');
    if (match && path) return creating(path, contentOf(match[1] ?? ''), save);
  }
  const empty = pathOf(EMPTY.exec(line)?.[1] ?? '');
  if (empty) return creating(empty, '', false);
  const gone = pathOf(DELETE.exec(line)?.[1] ?? '');
  return gone ? deleting(gone) : null;
}

const patchOf = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

function creating(path: string, content: string, save: boolean): Plan {
  const lines = content
    .replace(/\n$/, '')
    .split(/\r?\n/)
    .map((line) => `+${line}`);
  const patch = { tool: 'apply_patch', input: { patch: patchOf(`*** Add File: ${path}`, ...lines) } };
  const file = { tool: 'save_file', input: { path, content } };
  const verb = save ? 'save' : 'create';
  return doing(
    `${verb} ${code(path)}`,
    save ? [file, patch] : [patch, file],
    () => `${code(path)} is written.`,
  );
}

function deleting(path: string): Plan {
  const options = [{ tool: 'apply_patch', input: { patch: patchOf(`*** Delete File: ${path}`) } }];
  return doing(`delete ${code(path)}`, options, () => `${code(path)} is deleted.`);
}

function replacing(before: string, after: string, path: string): Plan {
  const read: Step = {
    title: `read ${code(path)}`,
    act: () => ({
      deeds: [
        {
          options: [request('read_file', { path }), request('shell', { command: ['cat', asArgument(path)] })],
          report: () => `I have read ${code(path)}.`,
        },
      ],
    }),
  };
  const edit: Step = {
    title: `replace ${code(before)} with ${code(after)} in ${code(path)}`,
    dependent: true,
    act: (done) => {
      const last = done.at(-1);
      const hunks = last ? hunksOf(readable(last), before, after) : [];
      if (hunks.length === 0)
        return { say: `There is no ${code(before)} in ${code(path)}, so I changed nothing.` };
      const patch = patchOf(`*** Update File: ${path}`, ...hunks.flat());
      const report = () =>
        `${code(path)} is changed in ${hunks.length} ${hunks.length === 1 ? 'line' : 'lines'}.`;
      return { deeds: [{ options: [{ tool: 'apply_patch', input: { patch } }], report }] };
    },
  };
  const reasoning = `To replace text I have to see it first. I read ${path}, look for the lines that hold it, and then change only those.`;
  return { reasoning, steps: [read, edit] };
}

/** One hunk per line: hunks are searched forward, so all equal lines are found. */
const hunksOf = (text: string, before: string, after: string): string[][] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.includes(before))
    .map((line) => ['@@', `-${line}`, `+${line.replaceAll(before, () => after)}`]);
