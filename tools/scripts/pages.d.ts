// What only the templates know: which element an ID or the target of an event is.

interface Document {
  readonly activeElement: any;
  getElementById(id: string): any;
  addEventListener(type: string, listener: (event: any) => void, options?: boolean | AddEventListenerOptions): void;
}

interface HTMLDialogElement {
  addEventListener(type: string, listener: (event: any) => void): void;
}

interface HTMLElement {
  addEventListener(type: string, listener: (event: any) => void, options?: boolean | AddEventListenerOptions): void;
}

interface Window {
  SwaggerUIBundle: any;
}
