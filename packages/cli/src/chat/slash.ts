/** Slash commands: those of the console, and those only useful in a terminal. */
import type { About } from '@parlance/sdk';
import {
  AS_SERVER,
  approvalModes,
  parseSlash,
  SLASHES,
  type Slash,
  slashChoices,
} from '@parlance/ui/chat/slash.ts';
import { draftOf } from '../terminal/editor.ts';
import type { MenuChoice } from './composer.ts';
import type { ChatSettings } from './conversation.ts';

const OWN = [
  { name: 'sessions', about: 'Choose another session' },
  { name: 'new', about: 'Start a new session' },
  { name: 'open', about: 'Open this session in the console' },
  { name: 'quit', about: 'Leave' },
] as const;

type OwnName = (typeof OWN)[number]['name'];

export type Command = Slash | { readonly name: OwnName; readonly argument: '' };

/** Null if the text is a message to the agent. */
export function parseCommand(text: string): Command | null {
  const word = text.trim().toLowerCase();
  const own = OWN.find(({ name }) => `/${name}` === word || (name === 'quit' && word === '/exit'));
  return own ? { name: own.name, argument: '' } : parseSlash(text);
}

export function commandChoices(text: string, about: About): MenuChoice[] {
  const own = /^\/[a-z]*$/i.test(text)
    ? OWN.filter(({ name }) => `/${name}`.startsWith(text.toLowerCase()))
    : [];
  return [
    ...slashChoices(text, about).map(({ text, label, about, complete }) => ({
      draft: draftOf(text),
      label,
      about,
      complete,
    })),
    ...own.map(({ name, about }) => ({
      draft: draftOf(`/${name}`),
      label: `/${name}`,
      about,
      complete: true,
    })),
  ];
}

export const COMMANDS: readonly { readonly label: string; readonly about: string }[] = [
  ...SLASHES,
  ...OWN,
].map((one) => ({ label: `/${one.name}${'argument' in one ? ` ${one.argument}` : ''}`, about: one.about }));

export type CommandContext = {
  choose(change: ChatSettings): Promise<unknown>;
  compact(): Promise<unknown>;
  clear(): Promise<unknown>;
  notice(text: string): void;
  help(): void;
  sessions(): Promise<unknown>;
  newSession(settings: ChatSettings): void;
  open(): Promise<unknown>;
  quit(): void;
};

/** Rejects with the server's error. */
export async function applyCommand(
  { name, argument }: Command,
  about: About,
  context: CommandContext,
): Promise<void> {
  switch (name) {
    case 'help':
      return context.help();
    case 'sessions':
      await context.sessions();
      return;
    case 'new':
      return context.newSession({});
    case 'open':
      await context.open();
      return;
    case 'quit':
      return context.quit();
    case 'compact':
      await context.compact();
      return;
    case 'clear':
      await context.clear();
      return;
    case 'model': {
      if (argument === '') return context.notice(usage('/model NAME', about.models));
      await context.choose({ model: argument === AS_SERVER ? null : argument });
      return context.notice(
        `Model: ${argument === AS_SERVER ? `${about.model} (server default)` : argument}.`,
      );
    }
    case 'agent': {
      const agent = named(about.agents, argument);
      if (!agent) return context.notice(usage('/agent NAME', about.agents));
      await context.choose({ agent: agent.id });
      return context.notice(`Agent: ${agent.name}.`);
    }
    case 'domain': {
      const domain = named(about.domains, argument);
      if (!domain) return context.notice(usage('/domain NAME', about.domains));
      context.newSession({ domain: domain.id });
      return context.notice(`New session in ${domain.name}.`);
    }
    case 'approval': {
      const modes = approvalModes(about);
      const mode = modes.find(({ id }) => id === argument)?.id;
      if (!mode && argument !== AS_SERVER) return context.notice(usage('/approval MODE', modes));
      await context.choose({ approval: mode ?? null });
      return context.notice(`Approval mode: ${mode ?? `${about.approval} (server default)`}.`);
    }
  }
}

const named = <One extends { readonly id: string; readonly name: string }>(
  all: readonly One[],
  word: string,
) => all.find(({ id, name }) => id === word.toLowerCase() || name.toLowerCase() === word.toLowerCase());

const usage = (command: string, known: readonly { readonly id: string }[]): string =>
  `${command}: ${known.map(({ id }) => id).join(', ')}`;
