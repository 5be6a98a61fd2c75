/** Introduces itself and lists what it understands. It never claims to be a language model. */
import { answerPlan, type Intent } from '../plan.ts';

export const IDENTITY =
  "I am Parlance's built-in offline model: a deterministic program, not a language model. I can run commands, read, search and edit files, drive a connected browser and summarise text, so that you can see everything work without a key – say “help” for the list.";

const HELP = /^(?:help(?:\s+me)?|\/help|\?|what\s+(?:can|do)\s+you\s+(?:do|understand))$/i;

const LINES: readonly { readonly tools: readonly string[]; readonly text: string }[] = [
  { tools: ['shell', 'local_shell'], text: '**Commands**: “run git status”, “$ ls -la”, “local shell: ls”' },
  {
    tools: ['read_file', 'list_files', 'search_files'],
    text: '**Files**: “read README.md”, “list files in src”, “search for TODO”',
  },
  {
    tools: ['apply_patch', 'save_file'],
    text: '**Edits**: “create file notes.txt with hello”, “save hello to notes.txt”, “replace A with B in notes.txt”, “delete file notes.txt”',
  },
  { tools: ['web_search'], text: '**Web**: “search the web for bun release notes”' },
  {
    tools: ['open_url', 'extract_page_content'],
    text: '**Browser**: “open https://example.com and click Sign in”, “type hello into #search”, “summarise this page”, “what is selected”',
  },
  { tools: ['handoff'], text: '**Agents**: “hand off to the tester”' },
  { tools: ['echo'], text: '**Echo**: “echo hello”' },
];

const ALWAYS = [
  '**Several steps**: “… and …”, “… then …”, “… and at the same time …”',
  '**Texts**: “summarise: …”, “explain `rm -rf build`”',
  '**Reasoning**: “think about …”, “why …”',
  '**Memory**: “my name is …”, “what is my name?”',
  '**For testing**: “count to 100”, “tell me a long story”, “simulate an error”',
];

export const help: Intent = ({ line }, { tools }) => {
  if (!HELP.test(line)) return null;
  const lines = LINES.map((entry) => {
    const offered = entry.tools.some((tool) => tools.has(tool));
    return offered ? entry.text : `${entry.text} – *not available here just now*`;
  });
  const list = [...lines, ...ALWAYS].map((text) => `- ${text}`).join('\n');
  return answerPlan(`${IDENTITY}\n\nThis is what I understand:\n\n${list}`);
};
