/** The versions of a conversation, for its rows. */
import type { InputId } from '@parlance/protocol';
import { createContext } from 'react';
import type { Shown } from './branches.ts';

export type BranchContext = Pick<Shown, 'branches' | 'isLatest'> & {
  readonly choose: (latest: InputId, index: number) => void;
};

/** For rows: they do not change with every choice. */
export const Branches = createContext<BranchContext>({
  branches: new Map(),
  isLatest: true,
  choose: () => undefined,
});
