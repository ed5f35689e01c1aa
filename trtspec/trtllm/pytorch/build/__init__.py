"""How a recipe of backend pytorch becomes an artifact: nothing is compiled.

``stages`` plans: ``quantize`` and ``head`` change a checkpoint where that is needed,
``configure`` writes what the server is started with; every other checkpoint is linked.
``availability`` says what is missing here, ``rules`` what a version would refuse.
"""
