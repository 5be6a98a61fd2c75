/** Lists what it understands. */
import { type Intent, saying } from '../plan.ts';
import { IDENTITY } from './greetings.ts';

const HELP =
  /^(?:help(?:\s+me)?|\/help|\?|what\s+(?:can|do)\s+you\s+(?:do|understand|know)(?:\s+here)?|what\s+are\s+you\s+able\s+to\s+do|commands|show\s+(?:me\s+)?(?:the\s+)?help)$/i;

const LINES: readonly { readonly tools: readonly string[]; readonly text: string }[] = [
  {
    tools: ['shell', 'local_shell'],
    text: '**Commands**: “run git status”, “$ ls -la”, “check the git status”, “local shell: ls”',
  },
  {
    tools: ['read_file', 'list_files', 'search_files'],
    text: '**Files**: “read README.md”, “list files in src”, “search for TODO”, “summarise README.md”',
  },
  {
    tools: ['apply_patch', 'save_file'],
    text: '**Edits**: “create file notes.txt with hello”, “save hello to notes.txt”, “replace A with B in notes.txt”, “delete the file notes.txt”',
  },
  { tools: ['web_search'], text: '**Web**: “search the web for bun release notes”' },
  {
    tools: ['open_url', 'extract_page_content'],
    text: '**Browser**: “open https://example.com and click Sign in”, “type hello into #search”, “summarise this page”, “what is selected”, “scroll to #footer”',
  },
  { tools: ['handoff'], text: '**Agents**: “hand off to the tester”, “ask the reviewer to look at this”' },
  { tools: ['echo'], text: '**Echo**: “echo hello”' },
];

const ALWAYS = [
  '**Several steps**: “… and …”, “… then …”, “… and at the same time …”',
  '**Texts**: “summarise: …”, or a passage with a question about it',
  '**Reasoning**: “think about …”, “why …”, “explain …”, “explain `rm -rf build`”',
  '**Memory**: “my name is …”, “what is my name?”, “what did I say first?”, “summarise the conversation”',
  '**For testing**: “count to 100”, “tell me a long story”, “simulate an error”',
];

export const help: Intent = {
  name: 'help',
  match({ line }, { tools }) {
    if (!HELP.test(line)) return null;
    const lines = LINES.map((entry) => {
      const offered = entry.tools.some((tool) => tools.has(tool));
      return offered ? entry.text : `${entry.text} – *not available here just now*`;
    });
    const list = [...lines, ...ALWAYS].map((text) => `- ${text}`).join('\n');
    return saying(`${IDENTITY}\n\nThis is what I understand:\n\n${list}`);
  },
};
