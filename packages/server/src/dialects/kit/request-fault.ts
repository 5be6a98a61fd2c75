import { Fault, type FaultCode } from '@parlance/protocol';

/** A fault that names the field of the request, or has a code of the vendor's API. */
export class RequestFault extends Fault {
  readonly param: string | null;
  readonly apiCode: string | null;

  constructor(
    code: FaultCode,
    message: string,
    { param, apiCode }: { readonly param?: string; readonly apiCode?: string } = {},
  ) {
    super(code, message);
    this.param = param ?? null;
    this.apiCode = apiCode ?? null;
  }
}

export const invalid = (param: string, message: string): RequestFault =>
  new RequestFault('invalid', message, { param });
