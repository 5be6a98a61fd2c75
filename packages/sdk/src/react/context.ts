/** Provides the client to the hooks. */
import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import type { Parlance } from '../connect.ts';

const Client = createContext<Parlance | null>(null);

/**
 * Create the client once, outside of components.
 *
 * @example
 * const parlance = connect({ url: 'http://127.0.0.1:3000' });
 * createRoot(element).render(<ParlanceProvider client={parlance}><App /></ParlanceProvider>);
 */
export const ParlanceProvider = (props: {
  readonly client: Parlance;
  readonly children?: ReactNode;
}): ReactElement => createElement(Client.Provider, { value: props.client }, props.children);

export function useParlance(): Parlance {
  const client = useContext(Client);
  if (!client) throw new Error('There is no <ParlanceProvider> around this component.');
  return client;
}
