/**
 * As whom the playground connects: as the console does, or, in open mode, as a user who has logged in just for it.
 * That token is kept by the page alone and goes with it.
 */
import { connect, type Parlance } from '@parlance/sdk';
import { useState } from 'react';
import { parlance, useServer } from '../../state/server.ts';

export type Identity = {
  readonly name: string;
  readonly token: string | null;
  readonly door: Parlance;
};

export type Identities = {
  readonly identity: Identity;
  /** a login for the playground alone is in force */
  readonly borrowed: boolean;
  /** Throws a `ParlanceError` where name and password do not fit. */
  logIn(name: string, password: string): Promise<void>;
  forget(): void;
};

export function useIdentity(): Identities {
  const { principal } = useServer();
  const [borrowed, setBorrowed] = useState<Identity | null>(null);
  return {
    identity: borrowed ?? { name: principal.id, token: parlance.token, door: parlance },
    borrowed: borrowed !== null,
    async logIn(name, password) {
      const door = connect();
      const { token } = await door.auth.login(name, password);
      setBorrowed({ name, token, door });
    },
    forget: () => setBorrowed(null),
  };
}
