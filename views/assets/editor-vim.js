import { vim } from "@replit/codemirror-vim";

export const keys = () => vim({ status: true });
