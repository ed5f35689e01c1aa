"""How often the distribution test finds what is wrong, and what is not: simulations."""
