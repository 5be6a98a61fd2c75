/** Resolves the model or agent that a request names, and lists the available ones. */

import { z } from 'zod';
import type { Engine } from '../../core/index.ts';
import type { DialectContext } from './dialect.ts';
import { RequestFault } from './request-fault.ts';

/** The part of the configuration that is used here. */
export const ModelSettings = z.object({
  modelAliases: z.array(z.object({ from: z.string(), to: z.string() })),
});

/** The name of the default agent. */
const DEFAULT = 'parlance';

export type ModelSelection = {
  /** absent: the agent of the session, or the default one */
  readonly agent?: string;
};

type ModelContext = {
  readonly engine: Pick<Engine, 'catalog'>;
  readonly about: Pick<DialectContext['about'], 'model' | 'provider'>;
  readonly settings: z.output<typeof ModelSettings>;
};

export class Models {
  constructor(private readonly ctx: ModelContext) {}

  list(): string[] {
    const { about, engine } = this.ctx;
    const agents = engine.catalog.listed.agents.map(({ id }) => id);
    return [...new Set([DEFAULT, about.model, ...agents])];
  }

  /** Throws `not_found` if no model or agent has this name. */
  find(name: string): string {
    return this.#known(name);
  }

  /** Throws like `find`. */
  choose(name: string): ModelSelection {
    const id = this.#known(name);
    return id === DEFAULT || id === this.ctx.about.model ? {} : { agent: id };
  }

  /** The model that the agent uses; `sessionModel` is the override of the session. */
  answering(agent: string, sessionModel: string | null): string {
    const { engine, about } = this.ctx;
    const named = engine.catalog.agents.find(({ id }) => id === agent)?.model;
    return sessionModel ?? named ?? about.model;
  }

  #known(name: string): string {
    const id = this.#isServed(name) ? name : this.#alias(name);
    if (id !== undefined && this.#isServed(id)) return id;
    const message = `The model \`${name}\` does not exist or you do not have access to it.`;
    throw new RequestFault('not_found', message, { param: 'model', apiCode: 'model_not_found' });
  }

  #isServed(id: string): boolean {
    const { about, engine } = this.ctx;
    return (
      id === DEFAULT || id === about.model || engine.catalog.listed.agents.some((agent) => agent.id === id)
    );
  }

  #alias(name: string): string | undefined {
    return this.ctx.settings.modelAliases.find(({ from }) =>
      from.endsWith('*') ? name.startsWith(from.slice(0, -1)) : name === from,
    )?.to;
  }
}
