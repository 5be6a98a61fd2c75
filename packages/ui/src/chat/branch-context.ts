/** The versions of a conversation, for its rows. */
import type { InputId } from '@parlance/protocol';
import { createContext } from 'react';
import type { Shown } from './branches.ts';

export type BranchContext = Pick<Shown, 'branches'> & {
  readonly choose: (latest: InputId, index: number) => void;
};

export const Branches = createContext<BranchContext>({ branches: new Map(), choose: () => undefined });

/** False: an earlier version is shown. On its own because `Branches` changes with each token. */
export const IsLatest = createContext(true);
