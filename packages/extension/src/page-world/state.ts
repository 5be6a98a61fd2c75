import { FROM_PAGE, type FromPage } from '../page-channel.ts';

export const state = {
  active: false,
  /** how confirm and prompt are answered */
  accept: false,
  text: null as string | null,
  /** counts actions: only requests of the last one are waited for */
  generation: 0,
  pending: 0,
};

export function report(message: FromPage): void {
  document.dispatchEvent(new CustomEvent(FROM_PAGE, { detail: JSON.stringify(message) }));
}
