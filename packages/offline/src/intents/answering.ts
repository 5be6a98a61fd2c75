/** Messages that are answered with text alone. The last one answers everything. */
import { knownName, nameIn } from '../digest.ts';
import { explain, isKnownProgram } from '../explanation.ts';
import { answerPlan, firstMatch, type Intent, type Plan, type PlanContext } from '../plan.ts';
import { code, quoted, shorten, summarise } from '../text.ts';
import type { UserMessage } from '../user-message.ts';

const HELLO = /^(?:hello|hi|hey)(?:\s+(?:there|again|parlance|agent|all))*$/i;
const WHO = /^who\s+are\s+you$|^are\s+you\s+an?\s+.*$/i;

const greetings: Intent = ({ line, whole }) => {
  if (HELLO.test(whole)) return answerPlan(`Hello! ${IDENTITY}`);
  return WHO.test(line) ? answerPlan(IDENTITY) : null;
};

const memory: Intent = ({ line }, { earlier }) => {
  if (/^what(?:'s|\s+is)\s+my\s+name$/i.test(line)) {
    const known = knownName(earlier);
    return answerPlan(
      known ? `Your name is ${known}.` : 'You have not told me your name in this conversation.',
    );
  }
  const name = /^(?:my name is|call me)\b/i.test(line) ? nameIn(line) : null;
  return name
    ? answerPlan(`Nice to meet you, ${name}. I know your name as long as it is part of this conversation.`)
    : null;
};

const summaries: Intent = ({ text }) => {
  const given = /^summari[sz]e(?:\s+this)?\s*[:\n]\s*([\s\S]+)$/i.exec(text)?.[1];
  return given ? answerPlan(summarise(given)) : null;
};

const THINK = /^(?:think\s+about\s+|explain\s+|(?=why\b))(.+)$/i;

/** Visible reasoning first, then the answer. */
const thoughts: Intent = ({ line }) => {
  const subject = THINK.exec(line)?.[1]?.trim();
  if (!subject) return null;
  const command = subject.replace(/^`|`$/g, '').trim();
  if (/^explain\b/i.test(line) && isKnownProgram(command)) {
    const reasoning = `The question is about the command ${command}. I know a table of common programs. I look up each part of the command in it.`;
    return answerPlan(explain(command), reasoning);
  }
  return answerPlan(
    `I thought about ${quoted(subject)} as far as a deterministic program can: I have no knowledge of the world. Ask me to explain a command such as ${code('git push')}.`,
    `The question is about ${quoted(subject)}. I look for a rule that fits ${shorten(subject, 40)}. There is none, so I can only say that.`,
  );
};

function fallback({ turn, earlier }: PlanContext): Plan {
  const text = turn.request.trim();
  if (text === '')
    return answerPlan('Your message has no text that I could answer. Say “help” to see what I understand.');
  const count = earlier.filter(({ kind }) => kind === 'user' || kind === 'text').length + 1;
  return answerPlan(
    `You wrote ${quoted(text)}. I am Parlance's offline model, a program rather than a language model, and I have no rule for that. This is message ${count} of our conversation. I can run commands, read and change files, search and use a connected browser: try “run git status” or “help”.`,
  );
}

export const answerTo = (message: UserMessage, context: PlanContext): Plan =>
  firstMatch([help, greetings, memory, demonstrations, summaries, thoughts], message, context) ??
  fallback(context);

// Streams and failures on demand, for developers of clients.

const COUNT = /^count\s+to\s+([\d,._' ]+)$/i;
const STORY = /^tell\s+(?:me\s+)?a\s+(long\s+)?story(?:\s+about\s+(.+))?$/i;
const FAIL = /^(?:fail|simulate\s+an?\s+(?:error|failure))$/i;
const MAX_COUNT = 10_000;

const demonstrations: Intent = ({ line }) => {
  const number = COUNT.exec(line)?.[1];
  if (number !== undefined) return answerPlan(counting(Number(number.replace(/[^\d]/g, ''))));
  const story = STORY.exec(line);
  if (story) return answerPlan(storyAbout(shorten(story[2] ?? '', 60), story[1] !== undefined));
  return FAIL.test(line) ? FAILURE : null;
};

function counting(last: number): string {
  if (last < 1 || last > MAX_COUNT) return `I count from one to at most ${MAX_COUNT}.`;
  return Array.from({ length: last }, (_, index) => index + 1).join(' ');
}

const FAILURE: Plan = {
  steps: [
    {
      title: 'fail',
      run: () => ({
        text: 'You asked for an error, so this answer will stop in the middle of',
        fault: {
          code: 'provider_unavailable',
          message: 'This failure was simulated on request by the offline model; nothing is wrong.',
        },
      }),
    },
  ],
};

/** A constant story, so that streams can be compared. */

const BEGINNING = [
  'Once upon a time there was a small lighthouse at the end of a long stone pier. It had no keeper any more. A quiet machine lit the lamp every evening and put it out every morning, and it had done so for so many years that nobody in the village remembered a night without the light.',
  'The machine could not think, and it knew nothing of ships. It knew only three things: when it was dark, how to light the lamp, and how to write one line into the great log book by the stairs. “Lamp lit,” it wrote in the evening. “Lamp out,” it wrote in the morning. The book was thick, and every line in it was true.',
];
const MIDDLE = [
  'One autumn a storm came that was stronger than all the storms before it. The wind tore at the shutters, the waves climbed over the pier, and shortly after midnight the power failed. The lamp went dark. In the middle of a line the pen stopped moving.',
  'Out at sea a fishing boat was on its way home. Its captain looked for the light and did not find it. She slowed down, counted the seconds between two waves, and waited, because she had learned that a light which has always come back will come back again.',
];
const MORE = [
  'In the village a girl saw that the tower was dark. She took her coat and a lantern, ran along the pier between two waves, and climbed the stairs. On the desk lay the log book, open at the last line. “Lamp lit,” it said, and after that there was nothing. So she knew exactly what had happened, and what had not: the lamp had been lit, and nobody had put it out.',
  'She did not light it a second time by hand, for she could not know whether the machine was about to do the same. Instead she looked for the fuse, changed it, and stepped back. The machine woke up, and the first thing that it did was read its own book from the last full page to the end.',
];
const END = [
  'When the power came back, the machine read the last line in the book, saw what was missing, and went on from there. It lit the lamp and finished the sentence that it had begun. Far out, the captain saw the light, smiled, and turned her boat towards the harbour.',
  'In the morning the sea was calm. The machine put out the lamp and wrote its line, as always. And if nobody has closed the book since then, it is still writing, one true line after the other, to this very day.',
];

function storyAbout(subject: string, long: boolean): string {
  const opening =
    subject === ''
      ? []
      : [`I know only one story, and it is about a lighthouse rather than ${subject}, but here it is.`];
  return [...opening, ...BEGINNING, ...MIDDLE, ...(long ? MORE : []), ...END].join('\n\n');
}

// Introduces itself and lists what it understands. It never claims to be a language model.

const IDENTITY =
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

const help: Intent = ({ line }, { tools }) => {
  if (!HELP.test(line)) return null;
  const lines = LINES.map((entry) => {
    const offered = entry.tools.some((tool) => tools.has(tool));
    return offered ? entry.text : `${entry.text} – *not available here just now*`;
  });
  const list = [...lines, ...ALWAYS].map((text) => `- ${text}`).join('\n');
  return answerPlan(`${IDENTITY}\n\nThis is what I understand:\n\n${list}`);
};
