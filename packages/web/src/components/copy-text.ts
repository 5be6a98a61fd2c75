import { toast } from './toast.tsx';

/** True where it is in the clipboard; otherwise the reader is told why it is not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast('The browser does not allow copying here: it needs https or localhost.');
    return false;
  }
}
