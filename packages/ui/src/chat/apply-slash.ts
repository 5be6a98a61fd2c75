/** Executes slash commands. */
import type { About } from '@parlance/sdk';
import { toast } from '../components/toast.tsx';
import type { Chosen } from './pickers.tsx';
import { AS_SERVER, approvalModes, type Slash } from './slash.ts';

type CommandContext = {
  /** Rejects with the server's error. */
  readonly choose: (change: Partial<Chosen>) => Promise<unknown>;
  readonly compact: () => Promise<unknown>;
  readonly clear: () => Promise<unknown>;
  /** Begins a session in the domain. */
  readonly openDomain: (domain: string) => void;
  readonly help: () => void;
  /** Asks before everything runs without approval. */
  readonly confirmFullAuto: () => void;
};

/** Throws a `ParlanceError` if the server refuses. False if nothing was done and the reason was shown. */
export async function applySlash(
  { name, argument }: Slash,
  about: About,
  context: CommandContext,
): Promise<boolean> {
  switch (name) {
    case 'help':
      context.help();
      return true;
    case 'compact':
      await context.compact();
      return true;
    case 'clear':
      await context.clear();
      return true;
    case 'model':
      if (argument === '')
        return missing(
          '/model NAME',
          about.models.map(({ id }) => id),
        );
      await context.choose({ model: argument === AS_SERVER ? null : argument });
      toast(argument === AS_SERVER ? `Model: ${about.model} (server default).` : `Model: ${argument}.`);
      return true;
    case 'agent': {
      const agent = named(about.agents, argument);
      if (!agent)
        return missing(
          '/agent NAME',
          about.agents.map(({ id }) => id),
        );
      await context.choose({ agent: agent.id });
      toast(`Agent: ${agent.name}.`);
      return true;
    }
    case 'domain': {
      const domain = named(about.domains, argument);
      if (!domain)
        return missing(
          '/domain NAME',
          about.domains.map(({ id }) => id),
        );
      context.openDomain(domain.id);
      return true;
    }
    case 'approval': {
      const modes = approvalModes(about).map(({ id }) => id);
      const mode = modes.find((id) => id === argument);
      if (!mode && argument !== AS_SERVER) return missing('/approval MODE', modes);
      if (mode === 'full-auto') {
        context.confirmFullAuto();
        return true;
      }
      await context.choose({ approval: mode ?? null });
      toast(`Approval mode: ${mode ?? `${about.approval} (server default)`}.`);
      return true;
    }
  }
}

const named = <One extends { readonly id: string; readonly name: string }>(
  all: readonly One[],
  word: string,
) => all.find(({ id, name }) => id === word.toLowerCase() || name.toLowerCase() === word.toLowerCase());

function missing(usage: string, known: readonly string[]): false {
  toast(`${usage}: ${known.join(', ')}`);
  return false;
}
