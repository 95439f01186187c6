# From what the user passed to numbers, and the same road again for new data.
#
# A frame is a list:
#   x          inputs, N x d, in the units given, without a constant column
#   y          response as given
#   weights    case weights or NULL
#   offset     numeric or NULL
#   basis      explicit columns, N x p, or NULL
#   rows       number of each row in the data as the user passed them
#   intercept  whether the formula leaves room for a constant
#   terms      of the model formula, NULL without one
#   na.action  what was dropped
#   recipe     how to do the same with new data
#
# A recipe is a list:
#   columns    names of the columns of x
#   named      whether a matrix x came with names that new data can be matched by
#   terms      of everything new data must supply, NULL where x was a matrix
#   inputs     terms of the columns of x
#   basis      terms or function that makes the explicit columns, or NULL
#   explicit   names of the explicit columns
#   xlevels, contrasts   as in lm()
#   variables  names that new data must have
#   offset     the `offset` argument, unevaluated

# The frame of the default method.
matrix_frame <- function(x, y, weights, basis) {
  if (!is.null(basis) && !is.function(basis)) {
    stop_argument("basis", "a function(x) that returns a matrix, or NULL", describe(basis))
  }
  check_rows(NROW(x), "x")
  frame <- if (is.data.frame(x)) data_frame_inputs(x) else matrix_inputs(x)
  check_columns(frame$x, "x")
  frame$y <- if (is.data.frame(y) && length(y) == 1) y[[1]] else y
  frame$weights <- weights
  frame$rows <- seq_len(nrow(frame$x))
  frame$intercept <- TRUE
  frame$recipe$basis <- basis
  add_basis(frame)
}

matrix_inputs <- function(x) {
  x <- numeric_matrix(x, "x")
  named <- !is.null(colnames(x)) && !anyDuplicated(colnames(x))
  x <- named_columns(x)
  list(x = x, recipe = list(columns = colnames(x), named = named))
}

# A data frame as x takes the road of a formula with every column in it.
data_frame_inputs <- function(x) {
  if (!ncol(x)) stop_argument("x", "of at least one column", describe(x))
  twice <- names(x)[duplicated(names(x))]
  if (length(twice)) {
    stop_argument("x", "of columns with different names", paste(quoted(twice), "twice"))
  }
  model <- with_rvm_errors({
    terms <- stats::terms(~ ., data = x)
    stats::model.frame(terms, x, na.action = stats::na.pass, drop.unused.levels = TRUE)
  }, "x")
  check_missing(model, "x")
  terms <- attr(model, "terms")
  columns <- coded_columns(terms, model, NULL, "x")
  list(x = columns$matrix, recipe = list(
    columns = colnames(columns$matrix), terms = terms, inputs = terms,
    xlevels = stats::.getXlevels(terms, model), contrasts = columns$contrasts,
    variables = names(x)
  ))
}

# The frame of the formula method. `call` is the matched call of rvm.formula(),
# made in `where`; from it come the arguments that are evaluated in the data.
formula_frame <- function(formula, data, call, where, contrasts, basis) {
  check_data(data)
  if (!is.null(basis) && !is.function(basis) && !is_one_sided(basis)) {
    stop_argument("basis", "a one-sided formula such as ~ x + I(x^2), a function(x), or NULL",
                  describe(basis))
  }
  terms <- with_rvm_errors(stats::terms(formula, data = data), "formula")
  if (!attr(terms, "response")) {
    stop_argument("formula", "of the form y ~ x", paste(deparse(formula), collapse = " "))
  }
  basis_terms <- if (inherits(basis, "formula")) columns_only(basis, data, formula)
  model <- full_model_frame(joint_formula(terms, basis_terms), data, call, where)
  check_rows(nrow(model), "data")

  everything <- stats::delete.response(attr(model, "terms"))
  inputs <- stats::delete.response(terms)
  columns <- coded_columns(inputs, model, contrasts, "data")
  basis_columns <- if (!is.null(basis_terms)) coded_columns(basis_terms, model, contrasts, "basis")
  frame <- list(
    x = columns$matrix, y = stats::model.response(model),
    weights = stats::model.weights(model), offset = stats::model.offset(model),
    basis = basis_columns$matrix, rows = model[["(row)"]],
    intercept = attr(terms, "intercept") == 1,
    terms = if (is.null(basis_terms)) attr(model, "terms") else terms,
    na.action = attr(model, "na.action")
  )
  frame$recipe <- list(
    columns = colnames(frame$x), terms = everything, inputs = inputs,
    basis = if (is.null(basis_terms)) basis else basis_terms,
    explicit = colnames(frame$basis),
    xlevels = stats::.getXlevels(everything, model),
    contrasts = utils::modifyList(as.list(columns$contrasts), as.list(basis_columns$contrasts)),
    variables = supplied_variables(everything, data, max(frame$rows)),
    offset = call$offset
  )
  check_columns(frame$x, "data")
  if (!is.null(frame$basis)) check_columns(frame$basis, "basis")
  structure(add_basis(frame), class = "rvm_frame")
}

check_data <- function(data) {
  if (!is.null(data) && !is.list(data) && !is.environment(data)) {
    stop_argument("data", "a data frame", describe(data))
  }
}

is_one_sided <- function(basis) inherits(basis, "formula") && length(basis) == 2

# Terms of a basis formula; a dot in it stands for everything but the response.
columns_only <- function(basis, data, formula) {
  if (is.data.frame(data)) data <- data[setdiff(names(data), all.vars(formula[[2]]))]
  with_rvm_errors(stats::terms(basis, data = data), "basis")
}

# One model frame for inputs and basis, so that both lose the same rows.
joint_formula <- function(terms, basis_terms) {
  joint <- stats::formula(terms)
  if (!is.null(basis_terms)) {
    joint[[3]] <- call("+", joint[[3]], stats::formula(basis_terms)[[2]])
  }
  joint
}

# The row numbers ride along as an extra variable, past `subset` and `na.action`.
full_model_frame <- function(formula, data, call, where) {
  response <- with_rvm_errors(eval(formula[[2]], data, environment(formula)), "formula")
  pass <- call[c(1, match(c("subset", "weights", "na.action", "offset"), names(call), 0))]
  pass[[1]] <- quote(stats::model.frame)
  pass$formula <- formula
  pass$data <- data
  pass$row <- seq_len(NROW(response))
  pass$drop.unused.levels <- TRUE
  model <- with_rvm_errors(eval(pass, where), "data")
  # Classes that the rows left over have no case of are the family's to tell of.
  if (is.factor(response)) model[[1]] <- factor(model[[1]], levels(response))
  model
}

# Dummy columns for factors, and no constant column: that one is the dictionary's.
coded_columns <- function(terms, model, contrasts, about) {
  contrasts <- contrasts[names(contrasts) %in% rownames(attr(terms, "factors"))]
  if (!length(contrasts)) contrasts <- NULL
  matrix <- with_rvm_errors(
    stats::model.matrix(terms, model, contrasts.arg = contrasts), about
  )
  keep <- attr(matrix, "assign") > 0
  list(matrix = plain_matrix(matrix[, keep, drop = FALSE]),
       contrasts = attr(matrix, "contrasts"))
}

plain_matrix <- function(matrix) {
  matrix(as.double(matrix), nrow(matrix), ncol(matrix), dimnames = dimnames(matrix))
}

# Names that new data must have: columns of `data`, or variables of the
# formula's environment that are as long as the data (others are constants).
supplied_variables <- function(terms, data, rows) {
  names <- all.vars(attr(terms, "variables"))
  is_column <- vapply(names, function(name) {
    if (name %in% names(data)) return(TRUE)
    value <- get0(name, environment(terms), ifnotfound = NULL)
    !is.function(value) && NROW(value) >= rows && rows > 1
  }, NA)
  names[is_column]
}

# Columns of a basis function are made from x; those of a formula are there already.
add_basis <- function(frame) {
  if (is.function(frame$recipe$basis)) {
    frame$basis <- basis_values(frame$recipe$basis, frame$x)
    frame$recipe$explicit <- colnames(frame$basis)
  }
  frame
}

basis_values <- function(basis, x, names = NULL) {
  columns <- basis(x)
  if (is.data.frame(columns)) columns <- as.matrix(columns)
  if (!is.numeric(columns) && !is.logical(columns) || NROW(columns) != nrow(x)) {
    stop_rvm("`basis` must be a function that returns a numeric matrix of ", nrow(x),
             " rows, not ", describe(columns), ".")
  }
  columns <- plain_matrix(as.matrix(columns))
  if (!is.null(names) && ncol(columns) != length(names)) {
    stop_rvm("`basis` must be a function that returns ", count(length(names), "column"),
             " as it did in the fit, not ", ncol(columns), ".")
  }
  if (is.null(colnames(columns)) && ncol(columns)) {
    colnames(columns) <- paste0("basis", seq_len(ncol(columns)))
  }
  if (!is.null(names)) colnames(columns) <- names
  check_columns(columns, "basis")
}

# ---- new data ----------------------------------------------------------------

# The frame of new rows: x, basis, offset, and which rows have all they need.
new_frame <- function(recipe, newdata, na.action) {
  frame <- if (is.null(recipe$terms)) new_matrix(recipe, newdata, na.action) else {
    new_model_frame(recipe, newdata, na.action)
  }
  missing <- rowSums(is.na(frame$x)) > 0
  if (!is.null(frame$basis)) missing <- missing | rowSums(is.na(frame$basis)) > 0
  if (!is.null(frame$offset)) missing <- missing | is.na(frame$offset)
  frame$complete <- !unname(missing)
  check_columns(frame$x[frame$complete, , drop = FALSE], "newdata")
  if (is.function(recipe$basis)) {
    frame$basis <- matrix(NA_real_, nrow(frame$x), length(recipe$explicit))
    if (any(frame$complete)) {
      complete <- frame$x[frame$complete, , drop = FALSE]
      frame$basis[frame$complete, ] <- basis_values(recipe$basis, complete, recipe$explicit)
    }
  }
  frame
}

new_matrix <- function(recipe, newdata, na.action) {
  if (recipe$named && !is.null(colnames(newdata))) {
    absent <- setdiff(recipe$columns, colnames(newdata))
    if (length(absent)) stop_missing_columns(absent)
    newdata <- newdata[, recipe$columns, drop = FALSE]
  }
  x <- with_rvm_errors(na.action(numeric_matrix(newdata, "newdata")), "newdata")
  if (ncol(x) != length(recipe$columns)) {
    stop_argument("newdata", paste("of", count(length(recipe$columns), "column")), describe(x))
  }
  list(x = x, names = rownames(x))
}

new_model_frame <- function(recipe, newdata, na.action) {
  if (!is.data.frame(newdata)) {
    newdata <- if (is.matrix(newdata) || is.list(newdata)) as.data.frame(newdata) else {
      stop_argument("newdata", "a data frame", describe(newdata))
    }
  }
  absent <- setdiff(recipe$variables, names(newdata))
  if (length(absent)) stop_missing_columns(absent)
  model <- with_rvm_errors(
    stats::model.frame(recipe$terms, newdata, na.action = na.action), "newdata"
  )
  model <- known_levels(model, recipe$xlevels)
  with_rvm_errors(
    stats::.checkMFClasses(attr(recipe$terms, "dataClasses"), model), "newdata"
  )
  new_columns <- function(terms) {
    coded_columns(terms, model, recipe$contrasts, "newdata")$matrix
  }
  list(
    x = new_columns(recipe$inputs),
    basis = if (inherits(recipe$basis, "terms")) new_columns(recipe$basis),
    offset = new_offset(recipe, model, newdata),
    names = rownames(model)
  )
}

stop_missing_columns <- function(absent) {
  stop_rvm("`newdata` must have the columns of the fit; missing: ", quoted(absent), ".")
}

known_levels <- function(model, xlevels) {
  for (name in names(xlevels)) {
    values <- as.character(model[[name]])
    unknown <- setdiff(values, c(xlevels[[name]], NA))
    if (length(unknown)) {
      stop_rvm("`newdata`: factor \"", name, "\" has ",
               if (length(unknown) > 1) "levels" else "a level",
               " that the fit did not see: ", quoted(unknown), ".")
    }
    model[[name]] <- if (is.ordered(model[[name]])) {
      ordered(values, levels = xlevels[[name]])
    } else factor(values, levels = xlevels[[name]])
  }
  model
}

# Offsets inside the formula and the `offset` argument add up, as in lm().
new_offset <- function(recipe, model, newdata) {
  offset <- stats::model.offset(model)
  if (is.null(recipe$offset)) return(offset)
  given <- with_rvm_errors(
    eval(recipe$offset, newdata, environment(recipe$terms)), "newdata"
  )
  dropped <- attr(model, "na.action")
  if (!is.null(dropped)) given <- given[-dropped]
  if (length(given) != nrow(model)) {
    stop_rvm("`offset` must have one number for each row of `newdata`, ", nrow(model),
             ", not ", length(given), ".")
  }
  if (is.null(offset)) given else offset + given
}

# ---- small helpers -----------------------------------------------------------

# A numeric matrix of doubles from a vector, matrix or data frame.
numeric_matrix <- function(x, argument) {
  if (is.data.frame(x)) {
    if (!all(vapply(x, function(column) is.numeric(column) || is.logical(column), NA))) {
      stop_argument(argument, "of numeric columns", describe(x))
    }
    x <- as.matrix(x)
  }
  # An all-NA column of new data is logical.
  if (!is.numeric(x) && !is.logical(x) || length(dim(x)) > 2) {
    stop_argument(argument, "a numeric matrix, vector or data frame", describe(x))
  }
  if (is.matrix(x)) return(plain_matrix(x))
  matrix(as.double(x), dimnames = if (!is.null(names(x))) list(names(x), NULL))
}

named_columns <- function(x) {
  if (is.null(colnames(x)) && ncol(x)) {
    colnames(x) <- if (ncol(x) == 1) "x" else paste0("x", seq_len(ncol(x)))
  }
  x
}

check_rows <- function(rows, argument) {
  if (rows < 2) stop_rvm("`", argument, "` must have at least 2 rows to fit, not ", rows, ".")
}

check_missing <- function(model, argument) {
  for (name in names(model)) {
    row <- which(rowSums(is.na(as.matrix(model[[name]]))) > 0)[1]
    if (!is.na(row)) {
      stop_rvm("`", argument, "` must be finite: column \"", name, "\" has NA in row ", row, ".")
    }
  }
}
