"""Items of agents' conversations: prompts, answers, tools and what became of them."""
