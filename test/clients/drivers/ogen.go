// The flow with ogen.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"

	"flow/accord"

	"github.com/ogen-go/ogen/ogenerrors"
)

func step(name string) { fmt.Println("step", name) }

func require(isTrue bool, seen any) {
	if !isTrue {
		panic(fmt.Sprintf("%T %+v", seen, seen))
	}
}

// as requires the response of a type: ogen has one for each status and media type.
func as[Wanted any](seen any, err error) Wanted {
	require(err == nil, err)
	wanted, isWanted := seen.(Wanted)
	require(isWanted, seen)
	return wanted
}

// startOf reads a response that is no JSON. ogen names its type after any response of the same media type,
// another one each time that a client is made.
func startOf(seen any, err error) string {
	require(err == nil, err)
	data, isData := reflect.ValueOf(seen).Elem().FieldByName("Response").Interface().(io.Reader)
	require(isData, seen)
	body, err := io.ReadAll(data)
	require(err == nil && len(body) > 5, err)
	return string(body[:5])
}

// Credentials of the flow: a token. ogen asks for each kind that the contract has.
type credentials struct{}

func (credentials) Oidc(context.Context, accord.OperationName) (accord.Oidc, error) {
	return accord.Oidc{Token: os.Getenv("ACCORD_TOKEN")}, nil
}
func (credentials) ApiKey(context.Context, accord.OperationName) (accord.ApiKey, error) {
	return accord.ApiKey{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) ApiKeyBasic(context.Context, accord.OperationName) (accord.ApiKeyBasic, error) {
	return accord.ApiKeyBasic{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) ApiKeyDashed(context.Context, accord.OperationName) (accord.ApiKeyDashed, error) {
	return accord.ApiKeyDashed{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) ChoicesCookie(context.Context, accord.OperationName) (accord.ChoicesCookie, error) {
	return accord.ChoicesCookie{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) ChoicesToken(context.Context, accord.OperationName) (accord.ChoicesToken, error) {
	return accord.ChoicesToken{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) PeerSignature(context.Context, accord.OperationName) (accord.PeerSignature, error) {
	return accord.PeerSignature{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) TransactionHeader(context.Context, accord.OperationName) (accord.TransactionHeader, error) {
	return accord.TransactionHeader{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) TransactionToken(context.Context, accord.OperationName) (accord.TransactionToken, error) {
	return accord.TransactionToken{}, ogenerrors.ErrSkipClientSecurity
}

// later makes the responses those that a later version of an instance may send.
type later struct{}

func (later) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	body = bytes.Replace(body, []byte("CREATED"), []byte("LATER"), 1)
	response.Body = io.NopCloser(bytes.NewReader(bytes.Replace(body, []byte("{"), []byte(`{"laterMember":true,`), 1)))
	return response, err
}

func main() {
	ctx := context.Background()
	subject := os.Getenv("ACCORD_SUBJECT")
	client, err := accord.NewClient(os.Getenv("ACCORD_URL"), credentials{})
	require(err == nil, err)
	contextOf := func(layout string) *accord.ConsentContext {
		return &accord.ConsentContext{Subject: subject, Layout: accord.NewOptString(layout)}
	}

	step("create")
	created := as[*accord.TransactionCreatedHeaders](client.CreateTransaction(ctx, contextOf("layout.001"))).Response
	require(created.State == "CREATED", created)

	step("later")
	// ogen refuses values that it does not know; the client is of the contract without `enum`.
	next, err := accord.NewClient(os.Getenv("ACCORD_URL"), credentials{}, accord.WithClient(&http.Client{Transport: later{}}))
	require(err == nil, err)
	transaction := accord.GetTransactionParams{Txid: created.ID}
	read := as[*accord.ListedTransactionHeaders](next.GetTransaction(ctx, transaction)).Response
	require(read.State == "LATER", read)

	step("form")
	form := as[*accord.FormHeaders](client.GetForm(ctx, accord.GetFormParams{Txid: created.ID})).Response
	answers := accord.Answers{}
	for _, element := range form.Elements {
		require(element.Content.Title.Set || element.Content.Label.Set, element)
		answers[element.Identifier] = accord.Answer{element.Answers.Value[0]}
	}

	step("submit")
	inTransaction := accord.SubmitAnswersParams{Txid: created.ID}
	submitted := as[*accord.TransactionSubmittedHeaders](client.SubmitAnswers(ctx, answers, inTransaction)).Response
	require(submitted.State == "COMMITTED", submitted)

	step("records")
	records := as[*accord.RecordsHeaders](client.ListRecords(ctx, accord.ListRecordsParams{Subject: subject})).Response
	require(records["processing.001"][0].Subject == subject, records)

	step("receipt")
	receipt := as[*accord.ReceiptHeaders](client.GetReceipt(ctx, accord.GetReceiptParams{Txid: created.ID})).Response
	require(len(receipt.Consents[0].Answer) > 0, receipt)

	step("signed")
	receiptAs := func(format string) accord.GetReceiptParams {
		return accord.GetReceiptParams{Txid: created.ID, Format: accord.NewOptString(format)}
	}
	require(startOf(client.GetReceipt(ctx, receiptAs("jose")))[:3] == "eyJ", "jose")
	require(startOf(client.GetReceipt(ctx, receiptAs("pdf"))) == "%PDF-", "pdf")

	step("withdraw")
	ofTransaction := accord.WithdrawConsentsParams{Txid: created.ID}
	withdrawn, err := client.WithdrawConsents(ctx, &accord.WithdrawalInput{}, ofTransaction)
	withdrawal := as[*accord.WithdrawalCreatedHeaders](withdrawn, err).Response
	require(withdrawal.Kind.Value == "WITHDRAWAL", withdrawal)

	step("problem")
	refused, err := client.CreateTransaction(ctx, contextOf("unknown"))
	problem := as[*accord.InvalidContextApplicationProblemJSONHeaders](refused, err).Response
	require(problem.Errors[0].Pointer == "/layout" && problem.Code.Set, problem)

	step("done")
}
